// The conversation, and the place to speak and write.
import { useFiles } from '../../hooks/useFiles'
import { useWords } from '../../hooks/useWords'
import { Composer } from './Composer'
import { Conversation } from './Conversation'

export function Talk() {
  const words = useWords()
  const files = useFiles()
  return (
    <div className="relative flex h-full flex-col print:block print:h-auto" {...files.dropping}>
      <Conversation />
      <Composer files={files} />
      {files.isOver && (
        <p className="pointer-events-none absolute inset-3 z-10 grid place-items-center rounded-2xl border-2 border-dashed border-accent bg-accent-wash text-lg font-medium text-accent">
          {words.talk.drop}
        </p>
      )}
    </div>
  )
}
