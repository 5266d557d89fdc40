// What an answer came of: the event, the model's calls, the tools' results, what was said and what was heard of it.
import type { Json } from '../socket/requests'
import { useAura } from '../hooks/useAura'
import { useRequest } from '../hooks/useRequest'
import { useClockTime } from '../hooks/useTime'
import { useLocale, useWords } from '../hooks/useWords'
import { Failed } from './shell/Failed'

/** One thing that happened; which fields it has is its `kind`'s. */
interface Step {
  kind: string
  /** ISO, UTC. */
  at: string
  id: string
  [field: string]: Json | undefined
}

interface Reasons {
  event: { id: string; type: string; source?: string; words?: string; evidence?: Record<string, Json> }
  steps: Step[]
  cost_usd: number
}

export function Why({ what }: { what: string }) {
  const words = useWords()
  const locale = useLocale()
  const forgotten = useAura((aura) => aura.forgotten)
  const { data, error, again } = useRequest<Reasons>('why', { what }, forgotten)
  if (error !== null) return <Failed sentence={error || words.page.unreachable} again={again} />
  if (!data) return <p className="text-sm text-soft">{words.page.loading}</p>
  const { event, steps, cost_usd: cost } = data
  return (
    <div data-testid="why" className="space-y-2 text-sm">
      <p>
        <span className="text-soft">{words.why.event(event.type, event.source ?? '')}</span>
        {event.words && (
          <span dir="auto" className="block break-words font-medium">
            {event.words}
          </span>
        )}
      </p>
      {event.evidence && (
        <p className="text-soft">
          {Object.entries(event.evidence)
            .map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`)
            .join(' · ')}
        </p>
      )}
      <ol className="space-y-1.5">
        {steps.map((step, index) => (
          <StepLine key={`${step.id} ${index}`} step={step} />
        ))}
      </ol>
      {cost > 0 && (
        <p className="text-soft">{words.why.cost(cost.toLocaleString(locale, { maximumFractionDigits: 6 }))}</p>
      )}
    </div>
  )
}

function StepLine({ step }: { step: Step }) {
  const words = useWords()
  const at = useClockTime(step.at)
  const told = toldOf(step, words)
  if (told === null) return null
  return (
    <li className="flex gap-2.5">
      <time dateTime={step.at} className="shrink-0 tabular-nums text-soft">
        {at}
      </time>
      <div className="min-w-0 flex-1">
        <p dir="auto" className="break-words">
          {told.line}
        </p>
        {told.more && (
          <details>
            <summary className="text-soft">{words.talk.result}</summary>
            <pre className="mt-1 max-h-60 overflow-auto whitespace-pre-wrap break-words rounded-lg bg-raised p-2 font-mono text-xs">
              {told.more}
            </pre>
          </details>
        )}
      </div>
    </li>
  )
}

/** A step in words, and what can be opened; null for one that says nothing of its own. */
function toldOf(step: Step, words: ReturnType<typeof useWords>): { line: string; more?: string } | null {
  const text = (name: string): string => String(step[name] ?? '')
  const number = (name: string): number => Number(step[name] ?? 0)
  switch (step.kind) {
    case 'model':
      return {
        line: words.why.model(
          text('model'),
          number('prompt_tokens'),
          number('cached_tokens'),
          number('seconds').toFixed(2),
        ),
      }
    case 'tool':
      return { line: words.why.tool(text('tool'), argsOf(step.args)), more: text('result') }
    case 'said':
      return {
        line: step.whole === true ? words.why.said(text('text')) : words.why.saidPart(text('text'), text('heard')),
      }
    case 'written':
      return { line: words.why.written(text('text')) }
    case 'interrupted':
      return { line: words.why.interrupted(text('heard'), text('unsaid')) }
    case 'end':
      return { line: words.why.end(text('status')) }
    case 'gone':
      return { line: words.why.gone(text('topic'), text('why')) }
    default:
      return null
  }
}

const argsOf = (args: Json | undefined): string => (typeof args === 'string' ? args : JSON.stringify(args ?? {}))
