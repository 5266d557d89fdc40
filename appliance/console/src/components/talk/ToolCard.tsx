// A tool at work: its name and how it stands; opened, what it was given and what came back.
import { useWords } from '../../hooks/useWords'
import type { ToolCall } from '../../store/conversation'
import { Icon } from '../Icon'

export function ToolCard({ call }: { call: ToolCall }) {
  const words = useWords()
  const isBad = call.status === 'error' || call.status === 'refused'
  return (
    <details data-testid="tool" data-status={call.status} className="card group max-w-[92%] overflow-hidden">
      <summary className="flex min-h-11 list-none items-center gap-2.5 px-3.5 text-sm hover:bg-raised">
        <span className={call.status === 'running' ? 'animate-breathe text-accent' : 'text-soft'}>
          <Icon name="tool" size={18} />
        </span>
        <span className="min-w-0 truncate font-mono font-medium">{call.name}</span>
        <span className={`ml-auto whitespace-nowrap ${isBad ? 'text-danger' : 'text-soft'}`}>
          {words.talk.tool[call.status]}
          {call.seconds !== null && ` · ${words.talk.seconds(call.seconds.toFixed(call.seconds < 10 ? 2 : 0))}`}
        </span>
        <span className="text-soft transition-transform group-open:rotate-180">
          <Icon name="down" size={16} />
        </span>
      </summary>
      <dl className="space-y-3 border-t border-line px-3.5 py-3 text-sm">
        <Part name={words.talk.arguments} text={readable(call.args)} />
        {call.status !== 'running' && <Part name={words.talk.result} text={call.result} />}
      </dl>
    </details>
  )
}

function Part({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt className="heading">{name}</dt>
      <dd>
        <pre
          tabIndex={0}
          dir="auto"
          className="mt-1 max-h-72 overflow-auto whitespace-pre-wrap break-words rounded-lg bg-raised p-2.5 font-mono text-[0.8125rem]"
        >
          {text || '–'}
        </pre>
      </dd>
    </div>
  )
}

const readable = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))
