// Exploring the graph: a first look, a step to the neighbours, a search; now, or as it was.
import { useCallback, useRef, useState } from 'react'
import { AnswerTooLarge, request, type Json } from '../socket/requests'
import { joined, MOST_DRAWN, neighboursOf, nothing, searchFor, sketchOf, type Sketch, type Statement } from './graph'
import { sentenceOf } from './useRequest'

/** What a statement answered. */
export interface Records {
  records: Record<string, Json>[]
  /** How many rows were left out, or the sentence that says so; null where none were. */
  truncated: string | number | null
}

/** Why nothing is drawn, for the page to say in its own words. */
export type Refusal = { kind: 'too_many'; count: number } | { kind: 'too_large' } | { kind: 'no_nodes' }

/** What is looked at: of which label ("" for all), and how many nodes at most. */
export interface Look {
  label: string
  most: number
}

export interface Explored {
  sketch: Sketch
  /** The node whose neighbours were asked for last. */
  selected: string | null
  refusal: Refusal | null
  /** "" or the sentence of why it did not work; null where it did. */
  error: string | null
  isBusy: boolean
  /** How far the past is made anew, in hundredths; null where that is not being done. */
  percent: number | null
  /** How many neighbours the selected node has, where more than came. */
  more: number | null
}

const untouched: Explored = {
  sketch: nothing,
  selected: null,
  refusal: null,
  error: null,
  isBusy: false,
  percent: null,
  more: null,
}

/** Runs a read-only statement on the graph, or on the graph as it was at `asOf` (ISO). Raises RequestFailed. */
export async function ask(
  statement: Statement,
  asOf: string | null,
  onPercent: (percent: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<Records> {
  const progress = (done: number, of: number) => onPercent(of > 0 ? Math.round((100 * done) / of) : 0)
  const { result } = await (asOf === null
    ? request<{ result: Partial<Records> }>('memory.query', { ...statement }, undefined, signal)
    : request<{ result: Partial<Records> }>('memory.past', { ...statement, until: asOf }, progress, signal))
  return { records: result.records ?? [], truncated: result.truncated ?? null }
}

/** The graph as far as it was explored. Whatever is done takes the place of a question that is not answered yet. */
export function useGraph(asOf: string | null) {
  const [explored, setExplored] = useState<Explored>(untouched)
  const [look, setLook] = useState<Look>({ label: '', most: 300 })
  const asking = useRef<AbortController | null>(null)
  const askedOf = useRef<string | null | undefined>(undefined) // no state: an effect has to see what was done since it was drawn

  const begin = useCallback(
    (changed: Partial<Explored>): AbortSignal => {
      asking.current?.abort()
      asking.current = new AbortController()
      const isOther = askedOf.current !== asOf
      askedOf.current = asOf
      setExplored((before) => ({
        ...(isOther ? untouched : before), // a node of the past has another id than today
        ...{ isBusy: false, error: null, refusal: null, percent: null },
        ...changed,
      }))
      return asking.current.signal
    },
    [asOf],
  )
  const run = useCallback(
    async (statement: Statement, then: (before: Explored, answer: Records) => Partial<Explored>) => {
      const signal = begin({ isBusy: true })
      const onPercent = (percent: number) => setExplored((before) => ({ ...before, percent }))
      try {
        const answer = await ask(statement, asOf, onPercent, signal)
        if (!signal.aborted)
          setExplored((before) => ({ ...before, more: null, ...then(before, answer), isBusy: false, percent: null }))
      } catch (failure) {
        if (signal.aborted) return
        const told: Partial<Explored> =
          failure instanceof AnswerTooLarge ? { refusal: { kind: 'too_large' } } : { error: sentenceOf(failure) }
        setExplored((before) => ({ ...before, ...told, isBusy: false, percent: null }))
      }
    },
    [asOf, begin],
  )

  const sample = useCallback(
    (statement: Statement) => run(statement, (_, { records }) => ({ ...drawable(sketchOf(records)), selected: null })),
    [run],
  )
  const search = useCallback(
    (words: string) =>
      run(searchFor(words), (_, { records }) => {
        const sketch = sketchOf(records)
        return sketch.nodes.length === 0
          ? { refusal: { kind: 'no_nodes' } }
          : { ...drawable(sketch), selected: sketch.nodes.length === 1 ? sketch.nodes[0]!.id : null }
      }),
    [run],
  )
  const expand = useCallback(
    (id: string) =>
      run(neighboursOf(id), (before, { records }) => {
        const found = sketchOf(records)
        const degree = Number(records[0]?.degree ?? 0)
        const drawn = drawable(joined(before.sketch, found))
        return { ...drawn, selected: id, more: degree > found.links.length ? degree : null }
      }),
    [run],
  )
  const select = useCallback(
    (selected: string | null) => setExplored((before) => ({ ...before, selected, more: null })),
    [],
  )
  const draw = useCallback((sketch: Sketch) => void begin({ ...drawable(sketch), selected: null, more: null }), [begin])
  const refuse = useCallback((count: number) => void begin({ refusal: { kind: 'too_many', count } }), [begin])
  const isAsked = useCallback(() => askedOf.current === asOf, [asOf])
  return { ...explored, look, setLook, isAsked, sample, search, expand, select, draw, refuse }
}

export type Explorer = ReturnType<typeof useGraph>

/** A sketch as what is drawn from now on, or why it is not: what was drawn before stays. */
function drawable(sketch: Sketch): Partial<Explored> {
  const count = sketch.nodes.length
  if (count > MOST_DRAWN) return { refusal: { kind: 'too_many', count } }
  return { sketch, refusal: null }
}
