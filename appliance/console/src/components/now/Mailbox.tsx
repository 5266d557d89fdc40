// The mailbox: what is in hand, what waits, what sleeps, and what was given up.
import { useAura } from '../../hooks/useAura'
import { useAct, useRequest } from '../../hooks/useRequest'
import { useLocalTimes } from '../../hooks/useTime'
import { useWords } from '../../hooks/useWords'
import { Failed } from '../shell/Failed'
import { Icon } from '../Icon'
import { Panel } from '../Panel'

interface Waiting {
  id: string
  type: string
  words: string
  /** "now", or what it waits for. */
  when: string
  priority: number
}

interface Dead {
  id: string
  type: string
  content?: string
  reason?: string
}

const SHOWN = 50

export function Mailbox() {
  const words = useWords()
  const { age, counts } = useAura((aura) => ({ age: aura.mailboxAge, counts: aura.counts }))
  const { data, error, again } = useRequest<{ events: Waiting[] }>('events', { limit: SHOWN }, age)
  const events = data?.events.filter((event) => event.type !== 'timer') ?? []
  const timers = (data?.events.length ?? 0) - events.length // those have a panel of their own
  const waiting = events.filter((event) => event.when === 'now')
  const asleep = events.filter((event) => event.when !== 'now')
  return (
    <Panel
      title={words.now.mailbox}
      aside={<Counts counts={{ ...counts, pending: Math.max(0, (counts.pending ?? 0) - timers) }} />}
    >
      {error !== null && <Failed sentence={error || words.page.unreachable} again={again} />}
      {data && events.length === 0 && <p className="text-soft">{words.now.nothingWaits}</p>}
      <Events title={words.now.waiting} events={waiting} again={again} />
      <Events title={words.now.asleep} events={asleep} again={again} />
      {(counts.dead ?? 0) > 0 && <GivenUp />}
    </Panel>
  )
}

function Counts({ counts }: { counts: Record<string, number> }) {
  const words = useWords()
  const told = [
    [words.now.inHand, counts.in_hand],
    [words.now.waiting, counts.pending],
    [words.now.asleep, counts.suspended],
  ] as const
  return (
    <p data-testid="counts" className="flex gap-3 text-sm text-soft">
      {told.map(([name, count]) => (
        <span key={name}>
          {name} <span className="font-medium tabular-nums text-ink">{count ?? 0}</span>
        </span>
      ))}
    </p>
  )
}

function Events({ title, events, again }: { title: string; events: Waiting[]; again(): void }) {
  if (events.length === 0) return null
  return (
    <>
      <h3 className="mt-2 text-xs font-semibold uppercase tracking-wide text-soft">{title}</h3>
      <ul className="divide-y divide-line">
        {events.map((event) => (
          <EventRow key={event.id} event={event} again={again} />
        ))}
      </ul>
    </>
  )
}

function EventRow({ event, again }: { event: Waiting; again(): void }) {
  const words = useWords()
  const { act, isBusy, error } = useAct()
  const when = useLocalTimes(event.when)
  const change = (what: object) => void act('events.change', { id: event.id, ...what }).then(again)
  const shown = event.words || event.type
  return (
    <li data-testid="event" className="py-2.5">
      <div className="flex items-center gap-1">
        <div className="min-w-0 flex-1">
          <p dir="auto" className="break-words font-medium">
            {shown}
          </p>
          <p className="text-sm text-soft">
            {event.type} · {words.now.priorityOf(String(event.priority))}
            {event.when !== 'now' && ` · ${words.now.wakes(when)}`}
          </p>
        </div>
        <button
          type="button"
          disabled={isBusy || event.priority >= 10}
          className="button button-quiet px-2.5"
          aria-label={`${words.now.higher}: ${shown}`}
          onClick={() => change({ priority: event.priority + 1 })}
        >
          <Icon name="up" size={18} />
        </button>
        <button
          type="button"
          disabled={isBusy || event.priority <= -10}
          className="button button-quiet px-2.5"
          aria-label={`${words.now.lower}: ${shown}`}
          onClick={() => change({ priority: event.priority - 1 })}
        >
          <Icon name="down" size={18} />
        </button>
        <button
          type="button"
          disabled={isBusy}
          className="button button-danger px-2.5"
          aria-label={`${words.now.drop}: ${shown}`}
          onClick={() => change({ cancel: true })}
        >
          <Icon name="close" size={18} />
        </button>
      </div>
      {error && <p className="text-sm text-danger">{error}</p>}
    </li>
  )
}

function GivenUp() {
  const words = useWords()
  const age = useAura((aura) => aura.mailboxAge)
  const { data, again } = useRequest<{ events: Dead[] }>('mailbox', { state: 'dead', limit: SHOWN }, age)
  const { act, isBusy } = useAct()
  if (!data?.events.length) return null
  return (
    <details className="mt-3">
      <summary className="text-sm font-medium text-warning">
        {words.now.dead} ({data.events.length})
      </summary>
      <ul className="divide-y divide-line">
        {data.events.map((event) => (
          <li key={event.id} className="flex items-center gap-2 py-2.5">
            <div className="min-w-0 flex-1">
              <p dir="auto" className="truncate font-medium">
                {event.content ?? event.type}
              </p>
              <p className="text-sm text-soft">{event.reason}</p>
            </div>
            <button
              type="button"
              disabled={isBusy}
              className="button"
              onClick={() => void act('mailbox.retry', { id: event.id }).then(again)}
            >
              {words.now.retry}
            </button>
          </li>
        ))}
      </ul>
    </details>
  )
}
