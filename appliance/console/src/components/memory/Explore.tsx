// The graph, explored: a first look, what stands around a node, a search; as a picture, or as a list.
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { KINDS, kindsOf, labelsIn, MOST_DRAWN, sampleOf, type Sketch } from '../../hooks/graph'
import type { Explorer, Look } from '../../hooks/useGraph'
import { useRequest } from '../../hooks/useRequest'
import { useWords } from '../../hooks/useWords'
import { Failed } from '../shell/Failed'
import type { Moment } from './AsOf'
import { ExploreBar } from './ExploreBar'
import { Dot } from './Dot'
import { NodeDetails } from './NodeDetails'
import { NodeList } from './NodeList'
import { Refused } from './Refused'

const Picture = lazy(() => import('./Picture'))

/** What there is to draw: each label with how many nodes have it, the most frequent first. */
export interface Schema {
  labels: Record<string, number>
  relationshipTypes: Record<string, number>
  hygiene: { nodes: number; orphans: number }
}

const NONE: Record<string, number> = {}

export function Explore({ graph, asOf, setAsOf }: { graph: Explorer } & Moment) {
  const words = useWords()
  const { data, error, again } = useRequest<{ result: Schema }>('memory.schema')
  const schema = data?.result ?? null
  const hasPicture = useMemo(hasWebGL, [])
  const [isList, setList] = useState(!hasPicture)
  const { sketch, selected, look, isAsked } = graph
  const kinds = useMemo(() => kindsOf(sketch, schema?.labels ?? NONE), [sketch, schema])
  const lookAt = useLook(graph, schema, asOf)
  useEffect(() => {
    if (!isAsked()) lookAt(look)
  }, [isAsked, look, lookAt])
  const choose = (id: string | null) => {
    graph.select(id)
    if (id !== null && asOf === null) void graph.expand(id)
  }
  const node = sketch.nodes.find(({ id }) => id === selected) ?? null
  const isEmpty = sketch.nodes.length === 0 && !graph.isBusy && graph.refusal === null && graph.error === null
  return (
    <>
      <ExploreBar
        {...{ graph, schema, asOf, setAsOf, isList, setList, hasPicture }}
        setLook={(changed) => {
          graph.setLook(changed)
          lookAt(changed)
        }}
      />
      {!hasPicture && <p className="px-4 pb-3 text-sm text-soft">{words.memory.noWebGL}</p>}
      {error !== null && <Failed sentence={error || words.page.unreachable} again={again} />}
      {graph.error !== null && <Failed sentence={graph.error || words.page.unreachable} again={() => lookAt(look)} />}
      {graph.refusal && <Refused refusal={graph.refusal} />}
      <p role="status" className="sr-only">
        {graph.isBusy ? words.page.loading : words.memory.drawn(sketch.nodes.length, sketch.links.length)}
      </p>
      <div className="flex min-h-0 flex-1 flex-col border-t border-line lg:flex-row">
        <div className={`relative min-w-0 flex-1 ${isList ? 'lg:overflow-y-auto' : 'min-h-[50vh] bg-surface'}`}>
          {isEmpty && schema && (
            <p className="absolute p-6 text-soft">{asOf === null ? words.memory.empty : words.memory.wasEmpty}</p>
          )}
          {isList ? (
            <NodeList {...{ sketch, kinds, selected }} onSelect={choose} />
          ) : (
            <Suspense fallback={<p className="p-6 text-soft">{words.page.loading}</p>}>
              <Picture {...{ sketch, kinds, selected }} onSelect={choose} />
              <Legend sketch={sketch} kinds={kinds} />
            </Suspense>
          )}
        </div>
        {node && <NodeDetails key={node.id} {...{ node, graph, kinds, choose }} />}
      </div>
    </>
  )
}

/** Take a look at the graph once its labels are known: some nodes of each, or of one, unless that is more than can be drawn. */
function useLook(graph: Explorer, schema: Schema | null, asOf: string | null): (look: Look) => void {
  const { sample, refuse } = graph
  return useCallback(
    ({ label, most }: Look) => {
      if (!schema && asOf === null) return
      const counts = schema?.labels ?? NONE
      const count = label ? (counts[label] ?? 0) : (schema?.hygiene.nodes ?? 0)
      if (most > MOST_DRAWN && count > MOST_DRAWN && asOf === null) return refuse(count)
      const so = Math.min(most, MOST_DRAWN)
      void sample(sampleOf(label ? { [label]: so } : asOf === null ? counts : NONE, so))
    },
    [sample, refuse, schema, asOf],
  )
}

function Legend({ sketch, kinds }: { sketch: Sketch; kinds: Map<string, number> }) {
  const labels = [...labelsIn(sketch)].slice(0, KINDS)
  if (labels.length === 0) return null
  return (
    <ul
      aria-hidden="true"
      className="pointer-events-none absolute left-3 top-3 max-w-[70%] space-y-0.5 rounded-xl bg-surface/85 p-2 text-xs text-soft"
    >
      {labels.map(([label, count]) => (
        <li key={label} className="flex items-center gap-1.5">
          <Dot kind={kinds.get(label)} />
          <span className="truncate">{label}</span>
          <span className="tabular-nums">{count}</span>
        </li>
      ))}
    </ul>
  )
}

/** Whether this browser can draw the picture; where it cannot, there is the list. */
function hasWebGL(): boolean {
  const context = document.createElement('canvas').getContext('webgl2')
  context?.getExtension('WEBGL_lose_context')?.loseContext()
  return context !== null
}
