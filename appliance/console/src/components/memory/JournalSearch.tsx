// What was said, found by words or the newest; and for each thing what it came of.
import { useState } from 'react'
import { useAura } from '../../hooks/useAura'
import { useRequest } from '../../hooks/useRequest'
import { useClockTime } from '../../hooks/useTime'
import { useWords } from '../../hooks/useWords'
import { Failed } from '../shell/Failed'
import { Icon } from '../Icon'
import { SearchBox } from '../SearchBox'
import { Why } from '../Why'

const LIMIT = 50

interface Entry {
  id: string
  /** ISO, UTC. */
  at: string
  topic: string
  who: string
  words: string
  event_id: string
}

export function JournalSearch({ asked }: { asked: string }) {
  const words = useWords()
  const [searched, setSearched] = useState('')
  const forgotten = useAura((aura) => aura.forgotten)
  const { data, error, isLoading, again } = useRequest<{ entries: Entry[] }>(
    'journal',
    { words: searched, limit: LIMIT },
    forgotten,
  )
  const entries = data?.entries.filter((entry) => entry.words) ?? []
  return (
    <div className="mx-auto max-w-3xl space-y-3 p-4 lg:p-6">
      {asked && (
        <section aria-label={words.why.title} className="card p-4">
          <div className="mb-2 flex items-center justify-between gap-3">
            <h2 className="heading">{words.why.title}</h2>
            <a href="#/memory/journal" className="button button-quiet px-2.5" aria-label={words.page.close}>
              <Icon name="close" size={18} />
            </a>
          </div>
          <Why key={asked} what={asked} />
        </section>
      )}
      <SearchBox label={words.memory.searchJournal} search={setSearched} />
      {error !== null && <Failed sentence={error || words.page.unreachable} again={again} />}
      <p role="status" className="text-sm text-soft">
        {isLoading ? words.page.loading : searched ? words.memory.found(entries.length) : words.memory.saidLast}
      </p>
      <ol className="card divide-y divide-line empty:hidden">
        {entries.map((entry) => (
          <EntryRow key={entry.id} entry={entry} />
        ))}
      </ol>
    </div>
  )
}

function EntryRow({ entry }: { entry: Entry }) {
  const words = useWords()
  const at = useClockTime(entry.at)
  const [isOpen, setOpen] = useState(false)
  const isAgent = entry.who === 'agent'
  return (
    <li data-testid="entry" className="px-3.5 py-2.5">
      <div className="flex items-baseline gap-2 text-sm text-soft">
        <span className={isAgent ? 'font-medium text-accent' : 'font-medium text-ink'}>
          {isAgent ? words.page.name : words.talk.you}
        </span>
        <time dateTime={entry.at} className="tabular-nums">
          {at}
        </time>
        {entry.event_id && (
          <button
            type="button"
            aria-expanded={isOpen}
            className="ml-auto min-h-8 rounded-lg px-2 text-accent hover:bg-raised"
            aria-label={`${words.why.ask}: ${entry.words.slice(0, 60)}`}
            onClick={() => setOpen(!isOpen)}
          >
            {words.why.ask}
          </button>
        )}
      </div>
      <p dir="auto" className="whitespace-pre-wrap break-words">
        {entry.words}
      </p>
      {isOpen && (
        <div className="mt-2 border-l-2 border-accent pl-3">
          <Why what={entry.event_id} />
        </div>
      )}
    </li>
  )
}
