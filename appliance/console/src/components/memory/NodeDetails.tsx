// One node: its labels and properties, and what it stands to others in; each neighbour a step further.
import type { Json } from '../../socket/requests'
import { titleOf, type GraphLink, type GraphNode } from '../../hooks/graph'
import type { Explorer } from '../../hooks/useGraph'
import { useLocale, useWords } from '../../hooks/useWords'
import { Icon } from '../Icon'
import { Dot } from './Dot'

const MOST_SHOWN = 100 // relationships

interface Shown {
  node: GraphNode
  graph: Explorer
  kinds: Map<string, number>
  choose(id: string | null): void
}

export function NodeDetails({ node, graph, kinds, choose }: Shown) {
  const words = useWords()
  const locale = useLocale()
  const links = graph.sketch.links.filter(({ start, end }) => start === node.id || end === node.id)
  const title = titleOf(node)
  return (
    <aside
      aria-label={title}
      data-testid="node"
      className="shrink-0 space-y-4 border-t border-line bg-ground p-4 lg:w-80 lg:overflow-y-auto lg:border-l lg:border-t-0"
    >
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h2 dir="auto" className="break-words text-lg font-semibold leading-snug">
            {title}
          </h2>
          <p className="mt-1 flex flex-wrap gap-x-3 text-sm text-soft">
            {node.labels.map((label) => (
              <span key={label} className="flex items-center gap-1.5">
                <Dot kind={kinds.get(label)} />
                <bdi>{label}</bdi>
              </span>
            ))}
          </p>
        </div>
        <button
          type="button"
          className="button button-quiet px-2.5"
          aria-label={words.page.close}
          onClick={() => choose(null)}
        >
          <Icon name="close" size={18} />
        </button>
      </div>
      <Properties properties={node.properties} />
      {graph.more !== null && (
        <p className="text-sm text-warning">
          {words.memory.moreNeighbours(links.length.toLocaleString(locale), graph.more.toLocaleString(locale))}
        </p>
      )}
      <section aria-label={words.memory.relationships}>
        <h3 className="heading mb-1">
          {words.memory.relationships} <span className="font-normal tabular-nums">{links.length}</span>
        </h3>
        <ul className="space-y-0.5">
          {links.slice(0, MOST_SHOWN).map((link) => (
            <Neighbour key={link.id} {...{ link, node, graph, kinds, choose }} />
          ))}
        </ul>
      </section>
    </aside>
  )
}

function Neighbour({ link, node, graph, kinds, choose }: Shown & { link: GraphLink }) {
  const isOut = link.start === node.id
  const other = graph.sketch.nodes.find(({ id }) => id === (isOut ? link.end : link.start))
  if (!other) return null
  return (
    <li>
      <button
        type="button"
        className="flex min-h-9 w-full items-center gap-2 rounded-lg px-2 text-left text-sm hover:bg-raised"
        onClick={() => choose(other.id)}
      >
        <span className="shrink-0 font-mono text-xs text-soft">{isOut ? `${link.type} →` : `← ${link.type}`}</span>
        <Dot kind={kinds.get(other.labels[0] ?? '')} />
        <span dir="auto" className="min-w-0 truncate">
          {titleOf(other)}
        </span>
      </button>
    </li>
  )
}

export function Properties({ properties }: { properties: Record<string, Json> }) {
  return (
    <dl className="space-y-2 text-sm">
      {Object.entries(properties).map(([name, value]) => (
        <div key={name}>
          <dt className="font-mono text-xs text-soft">{name}</dt>
          <dd dir="auto" className="whitespace-pre-wrap break-words">
            {asText(value)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** A value for reading; lists and maps as JSON. */
export const asText = (value: Json): string =>
  value === null ? '–' : typeof value === 'object' ? JSON.stringify(value) : String(value)
