// The files that the next question is about.
import type { Files } from '../../hooks/useFiles'
import { useWords } from '../../hooks/useWords'
import { Icon } from '../Icon'

export function Attached({ files }: { files: Files }) {
  const words = useWords()
  if (files.held.length === 0) return null
  return (
    <ul className="mb-2 flex flex-wrap gap-2">
      {files.held.map((file) => (
        <li
          key={file.key}
          data-testid="attached"
          className="flex max-w-full items-center gap-1 rounded-xl bg-raised pl-3 text-sm"
        >
          <span dir="auto" className={`truncate ${file.id === null ? 'animate-pulse text-soft' : ''}`}>
            {file.name}
          </span>
          <button
            type="button"
            aria-label={words.talk.detach(file.name)}
            onClick={() => files.remove(file.key)}
            className="grid size-9 place-items-center text-soft hover:text-ink"
          >
            <Icon name="close" size={16} />
          </button>
        </li>
      ))}
    </ul>
  )
}
