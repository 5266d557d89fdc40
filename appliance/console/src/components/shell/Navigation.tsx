// The five views: a bar under the thumb on a phone, a rail at the side on a laptop.
import { VIEWS, type View } from '../../hooks/useRoute'
import { useWords } from '../../hooks/useWords'
import { Icon } from '../Icon'

export function Navigation({ view }: { view: View }) {
  const words = useWords()
  return (
    <nav
      aria-label={words.page.views}
      className="flex shrink-0 border-t print:hidden border-line bg-surface pb-[env(safe-area-inset-bottom)] md:w-52 md:flex-col md:gap-1 md:border-r md:border-t-0 md:bg-ground md:p-3"
    >
      <p
        aria-hidden="true"
        className="hidden items-center gap-2.5 px-3 pb-4 pt-2 text-lg font-semibold tracking-tight md:flex"
      >
        <img src="./icon.svg" alt="" width={26} height={26} />
        {words.page.name}
      </p>
      {VIEWS.map((each) => (
        <a
          key={each}
          href={`#/${each}`}
          aria-current={each === view ? 'page' : undefined}
          className="flex min-h-14 flex-1 flex-col items-center justify-center gap-0.5 text-xs font-medium text-soft transition-colors hover:text-ink aria-[current]:text-accent md:min-h-11 md:flex-none md:flex-row md:justify-start md:gap-3 md:rounded-xl md:px-3 md:text-sm md:hover:bg-raised md:aria-[current]:bg-accent-wash"
        >
          <Icon name={each} size={22} />
          {words.page[each]}
        </a>
      ))}
    </nav>
  )
}
