// What stands between the turns: words that were held back, and sentences about the appliance itself.
import { useWords } from '../../hooks/useWords'
import type { HeldBack, Notice } from '../../store/conversation'

/** Words that were heard and went no further, with the reason. */
export function HeldBackWords({ item }: { item: HeldBack }) {
  const words = useWords()
  return (
    <p
      data-testid="held-back"
      className="ml-auto w-fit max-w-[85%] rounded-2xl border border-dashed border-line px-4 py-2 text-sm text-soft"
    >
      <span className="font-medium">{words.talk.heldBack}</span> ({item.reason}):{' '}
      <q dir="auto" className="italic">
        {item.text}
      </q>
    </p>
  )
}

/** A sentence of the appliance about itself. */
export function NoticeWords({ item }: { item: Notice }) {
  return (
    <p
      data-testid="notice"
      dir="auto"
      className={`whitespace-pre-wrap rounded-2xl px-4 py-2.5 text-sm ${item.isProblem ? 'bg-danger-wash text-danger' : 'bg-raised text-ink'}`}
    >
      {item.text}
    </p>
  )
}
