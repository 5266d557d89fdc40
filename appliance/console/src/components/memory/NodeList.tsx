// The same nodes as a list: for screen readers, for the keyboard, and where nothing can be drawn.
import { useMemo, useState } from 'react'
import { titleOf, type GraphNode, type Sketch } from '../../hooks/graph'
import { useWords } from '../../hooks/useWords'
import { Dot } from './Dot'

const AT_FIRST = 100 // nodes of a label

interface Listed {
  sketch: Sketch
  kinds: Map<string, number>
  selected: string | null
  onSelect(id: string): void
}

export function NodeList({ sketch, kinds, selected, onSelect }: Listed) {
  const words = useWords()
  const groups = useMemo(() => byLabel(sketch), [sketch])
  const degrees = useMemo(() => degreesIn(sketch), [sketch])
  return (
    <div data-testid="node-list" className="space-y-4 p-4">
      {[...groups].map(([label, nodes]) => (
        <section key={label} aria-label={label || words.memory.unlabelled}>
          <h2 className="heading mb-1 flex items-center gap-2">
            <Dot kind={kinds.get(label)} />
            <bdi>{label || words.memory.unlabelled}</bdi>
            <span className="font-normal tabular-nums">{nodes.length}</span>
          </h2>
          <Nodes {...{ nodes, degrees, selected, onSelect }} />
        </section>
      ))}
    </div>
  )
}

function Nodes({
  nodes,
  degrees,
  selected,
  onSelect,
}: {
  nodes: GraphNode[]
  degrees: Map<string, number>
  selected: string | null
  onSelect(id: string): void
}) {
  const words = useWords()
  const [most, setMost] = useState(AT_FIRST)
  return (
    <>
      <ul className="flex flex-wrap gap-1.5">
        {nodes.slice(0, most).map((node) => (
          <li key={node.id} className="min-w-0">
            <button
              type="button"
              aria-pressed={node.id === selected}
              className="button min-h-9 max-w-full px-2.5 aria-pressed:border-accent aria-pressed:bg-accent-wash"
              onClick={() => onSelect(node.id)}
            >
              <span dir="auto" className="truncate">
                {titleOf(node)}
              </span>
              <span className="text-xs text-soft" aria-label={words.memory.linksOf(degrees.get(node.id) ?? 0)}>
                {degrees.get(node.id) ?? 0}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {nodes.length > most && (
        <button type="button" className="button button-quiet mt-1" onClick={() => setMost(most + 5 * AT_FIRST)}>
          {words.memory.more(nodes.length - most)}
        </button>
      )}
    </>
  )
}

function byLabel({ nodes }: Sketch): Map<string, GraphNode[]> {
  const groups = new Map<string, GraphNode[]>()
  for (const node of nodes) {
    const label = node.labels[0] ?? ''
    const group = groups.get(label)
    if (group) group.push(node)
    else groups.set(label, [node])
  }
  return new Map([...groups].sort((one, other) => other[1].length - one[1].length))
}

function degreesIn({ links }: Sketch): Map<string, number> {
  const degrees = new Map<string, number>()
  for (const { start, end } of links) for (const id of [start, end]) degrees.set(id, (degrees.get(id) ?? 0) + 1)
  return degrees
}
