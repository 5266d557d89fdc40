// Timers and alarms, each counting down.
import { useAura } from '../../hooks/useAura'
import { useAct, useRequest } from '../../hooks/useRequest'
import { asCountdown, useClockTime, useNow } from '../../hooks/useTime'
import { useWords } from '../../hooks/useWords'
import { Failed } from '../shell/Failed'
import { Icon } from '../Icon'
import { Panel } from '../Panel'

interface Timer {
  id: string
  label: string
  /** ISO, UTC. */
  due: string
  /** Its rule; "" where it rings once. */
  repeats: string
}

export function Timers() {
  const words = useWords()
  const age = useAura((aura) => aura.mailboxAge)
  const { data, error, again } = useRequest<{ timers: Timer[] }>('timers', {}, age)
  const now = useNow()
  return (
    <Panel title={words.now.timers}>
      {error !== null && <Failed sentence={error || words.page.unreachable} again={again} />}
      {data?.timers.length === 0 && <p className="text-soft">{words.now.noTimers}</p>}
      <ul className="divide-y divide-line">
        {data?.timers.map((timer) => (
          <TimerRow key={timer.id} timer={timer} left={Date.parse(timer.due) - now} again={again} />
        ))}
      </ul>
    </Panel>
  )
}

function TimerRow({ timer, left, again }: { timer: Timer; left: number; again(): void }) {
  const words = useWords()
  const at = useClockTime(timer.due)
  const { act, isBusy } = useAct()
  const drop = () => void act('events.change', { id: timer.id, cancel: true }).then(again)
  return (
    <li data-testid="timer" className="flex items-center gap-3 py-2.5">
      <span className="text-accent">
        <Icon name="timer" />
      </span>
      <div className="min-w-0 flex-1">
        <p dir="auto" className="truncate font-medium">
          {timer.label || words.now.unnamed}
        </p>
        <p className="text-sm text-soft">
          {words.now.due(at)}
          {timer.repeats && ` · ${words.now.repeats}`}
        </p>
      </div>
      <time dateTime={timer.due} data-testid="countdown" className="font-mono text-lg tabular-nums">
        {asCountdown(left)}
      </time>
      <button
        type="button"
        disabled={isBusy}
        className="button button-danger"
        aria-label={`${words.now.drop}: ${timer.label || words.now.unnamed}`}
        onClick={drop}
      >
        <Icon name="close" size={18} />
      </button>
    </li>
  )
}
