// The conversation as a pure function of the messages: what was said, heard, done and held back, in order.
import type {
  AnswerMessage,
  ErrorMessage,
  Forgotten,
  HeardMessage,
  JsonValue,
  ReplyWritten,
  RunInHand,
  RunStarted,
  Sentence,
  ServerMessage,
  TextChunk,
  ToolCall as ToolCallInJournal,
  ToolCallFinishedMessage,
  ToolCallStartedMessage,
} from '../protocol'

/** A tool at work, or what came of it. */
export interface ToolCall {
  callId: string
  name: string
  args: JsonValue
  status: 'running' | NonNullable<ToolCallInJournal['status']>
  result: string
  seconds: number | null
}

/** Of a turn; "doubtful" where it may not have arrived, "unknown" where its end was missed. */
export type Status =
  'sending' | 'doubtful' | 'waiting' | 'running' | 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'SUSPENDED' | 'unknown'

/** One event in hand, from its question to the end of its answer. */
export interface Turn {
  kind: 'turn'
  /** Event id; a made-up one while the appliance has not said it. */
  key: string
  eventId: string | null
  runId: string | null
  source: string
  /** What it is about: a person's words, or what woke the agent. */
  content: string
  attachments: string[]
  text: string
  /** What a person heard of the answer, and what was cut off, once it was interrupted. */
  interrupted: { heard: string; unsaid: string } | null
  tools: ToolCall[]
  status: Status
  /** What `text` is made of: each reply is a paragraph. */
  replies: Reply[]
  error: string | null
  at: string
}

/** The words of one reply: of a call of `reply`, or what the model writes as plain text. */
export interface Reply {
  callId: string
  text: string
}

/** Words that were heard, and why they went no further. */
export interface HeldBack {
  kind: 'held_back'
  key: string
  text: string
  reason: string
  at: string
}

/** A sentence of the appliance about itself: an answer to a command, a problem. */
export interface Notice {
  kind: 'notice'
  key: string
  text: string
  isProblem: boolean
  at: string
}

export type Item = Turn | HeldBack | Notice

/** That are kept; the oldest go. */
export const MOST_ITEMS = 300

let made = 0
/** A key that no event has. */
export const madeKey = (): string => `here-${Date.now().toString(36)}-${++made}`

/** The question as it was typed here, before the appliance has taken it up. */
export function asked(items: readonly Item[], key: string, content: string, attachments: string[], at: string): Item[] {
  return limited([...items, { ...emptyTurn(key, at), source: 'http', content, attachments, status: 'sending' }])
}

/** Questions that may have been lost with the connection: not told so, they would look as if they were under way. */
export function doubted(items: Item[], keys: readonly string[]): Item[] {
  return changed(
    items,
    (turn) => turn.status === 'sending' && keys.includes(turn.key),
    (turn) => ({ ...turn, status: 'doubtful' }),
  )
}

/** Something that came, or is told of the past: a question that stands here and was not begun is younger. */
function added(items: readonly Item[], item: Item): Item[] {
  const begun = items.findLastIndex((each) => each.kind !== 'turn' || !isAhead(each.status))
  return limited([...items.slice(0, begun + 1), item, ...items.slice(begun + 1)])
}

const isAhead = (status: Status): boolean => status === 'sending' || status === 'doubtful' || status === 'waiting'

/** How many others wait before a turn that waits; null where nothing is in hand, as far as this page knows. */
export function othersBefore(items: readonly Item[], turn: Turn, isBusy: boolean): number | null {
  if (!isBusy && !items.some((item) => item.kind === 'turn' && item.status === 'running')) return null
  const before = items.slice(
    0,
    items.findIndex((item) => item.key === turn.key),
  )
  return before.filter((item) => item.kind === 'turn' && item.status === 'waiting').length
}

/** A sentence between the turns. */
export function noticed(items: readonly Item[], text: string, isProblem: boolean, at: string): Item[] {
  return limited([...items, { kind: 'notice', key: madeKey(), text, isProblem, at }])
}

/**
 * The conversation after a message; the same array where it says nothing of it. `isPast` while the past is told again:
 * then what was said aloud is known by its sentences alone.
 */
export function told(items: Item[], message: ServerMessage, isPast = false): Item[] {
  switch (message.event) {
    case 'snapshot':
      return message.payload.run ? restored(items, message.payload.run, message.at) : ended(items)
    case 'run_started':
      return started(items, message.run_id, message.payload, message.at)
    case 'text_chunk':
      return changed(items, byRun(message.run_id), (turn) => written(turn, message.payload))
    case 'reply_written':
      return changed(items, byEvent(message.payload.event_id), (turn) => whole(turn, message.payload))
    case 'sentence':
      return isPast ? said(items, message.payload) : items
    case 'tool_call_started':
    case 'tool_call_finished':
      return changed(items, byRun(message.run_id), (turn) => called(turn, message))
    case 'interrupted': {
      const { heard, unsaid } = message.payload
      const all = `${heard} ${unsaid}`.trim()
      return changed(items, byEvent(message.payload.event_id), (turn) => ({
        ...turn,
        text: all.length > turn.text.length ? all : turn.text,
        interrupted: { heard, unsaid },
      }))
    }
    case 'run_finished': {
      const { status, error } = message.payload
      return changed(items, byRun(message.run_id), (turn) => ({ ...turn, status, error: error ?? null }))
    }
    case 'heard':
      return heard(items, message)
    case 'forgotten':
      return without(items, message.payload)
    case 'answer':
      return accepted(items, message)
    case 'error':
      return refused(items, message)
    default:
      return items
  }
}

function emptyTurn(key: string, at: string): Turn {
  return {
    kind: 'turn',
    key,
    eventId: null,
    runId: null,
    source: '',
    content: '',
    attachments: [],
    text: '',
    interrupted: null,
    tools: [],
    status: 'running',
    replies: [],
    error: null,
    at,
  }
}

/** A run begins: of a question that stands here already, or of something new. A resumed one goes on where it was. */
function started(items: Item[], runId: string | null, run: RunStarted, at: string): Item[] {
  const here = items.find((item): item is Turn => item.kind === 'turn' && isFor(item, run))
  const known = { runId, eventId: run.event_id, source: run.source, status: 'running' as const, at }
  if (here)
    return changed(
      items,
      (turn) => turn === here,
      (turn) => ({ ...turn, ...known }),
    )
  return added(items, { ...emptyTurn(run.event_id, at), ...known, content: run.content })
}

function isFor(turn: Turn, run: { event_id: string; content: string }): boolean {
  if (turn.eventId) return turn.eventId === run.event_id
  return (turn.status === 'sending' || turn.status === 'doubtful') && turn.content.trim() === run.content.trim()
}

/** What the appliance says of the run in hand counts, whatever was missed while there was no connection. */
function restored(items: Item[], run: RunInHand, at: string): Item[] {
  const tools = run.tool_calls.map(journaledCall)
  const others = ended(items, run.event_id)
  return changed(started(others, run.run_id, run, at), byEvent(run.event_id), (turn) => {
    const replies = repliesOf(run)
    return { ...turn, text: joined(replies), replies, tools }
  })
}

/** The replies of a run in hand: the whole ones by their calls, and the one that is being written. */
function repliesOf(run: RunInHand): Reply[] {
  const whole = run.tool_calls.flatMap(({ call_id: callId, tool_name: name, args }) => {
    const text = name === 'reply' ? wordsOf(args) : null
    return text === null ? [] : [{ callId, text }]
  })
  if (run.call_id === null || whole.some((reply) => reply.callId === run.call_id)) return whole
  const before = whole.map((reply) => reply.text).join('\n')
  const text = run.text.startsWith(before) ? run.text.slice(before.length).trimStart() : run.text
  return text ? [...whole, { callId: run.call_id, text }] : whole
}

function journaledCall(call: ToolCallInJournal): ToolCall {
  const { call_id: callId, tool_name: name, args, result, seconds } = call
  return { callId, name, args, status: call.status ?? 'running', result, seconds }
}

/** Runs that went on here when the connection was lost and are not in hand any more. */
function ended(items: Item[], except: string | null = null): Item[] {
  return changed(
    items,
    (turn) => turn.status === 'running' && turn.eventId !== except,
    (turn) => ({ ...turn, status: 'unknown' as const, tools: turn.tools.filter((call) => call.status !== 'running') }),
  )
}

function written(turn: Turn, { call_id: callId, chunk }: TextChunk): Turn {
  const known = turn.replies.find((reply) => reply.callId === callId)
  return withReply(turn, callId, (known?.text ?? '') + chunk)
}

/** A reply in writing as it is in the end; what stands here is shorter where something of it was missed. */
function whole(turn: Turn, { call_id: callId, text }: ReplyWritten): Turn {
  const known = turn.replies.find((reply) => reply.callId === callId)
  return known && known.text.length >= text.length ? turn : withReply(turn, callId, text)
}

/** A sentence that sounded: of an answer aloud the journal has nothing else. A sign that it goes on is none of it. */
function said(items: Item[], { event_id: eventId, call_id: callId, text }: Sentence): Item[] {
  if (!eventId || callId === `filler-${eventId}`) return items
  return changed(items, byEvent(eventId), (turn) => {
    const known = turn.replies.find((reply) => reply.callId === callId)?.text ?? ''
    return known.includes(text) ? turn : withReply(turn, callId, goingOn(known, text))
  })
}

/** Words with a sentence behind them, of which they may have the beginning. */
function goingOn(words: string, sentence: string): string {
  for (let from = Math.max(words.length - sentence.length, 0); from < words.length; from++) {
    if (sentence.startsWith(words.slice(from))) return words.slice(0, from) + sentence
  }
  return words ? `${words} ${sentence}` : sentence
}

function withReply(turn: Turn, callId: string, text: string): Turn {
  const isKnown = turn.replies.some((reply) => reply.callId === callId)
  const replies = isKnown
    ? turn.replies.map((reply) => (reply.callId === callId ? { callId, text } : reply))
    : [...turn.replies, { callId, text }]
  return { ...turn, replies, text: joined(replies) }
}

const joined = (replies: readonly Reply[]): string => replies.map((reply) => reply.text).join('\n\n')

/** A call begins or ends. That of a reply has its words whole, whatever was missed of them as they were written. */
function called(turn: Turn, message: ToolCallStartedMessage | ToolCallFinishedMessage): Turn {
  const after = { ...turn, tools: withCall(turn.tools, callOf(message)) }
  if (message.event === 'tool_call_finished') return after
  const { call_id: callId, tool_name: name, args } = message.payload
  const text = name === 'reply' ? wordsOf(args) : null
  return text === null ? after : withReply(after, callId, text)
}

/** What a call of `reply` says; null where that cannot be told. */
function wordsOf(args: JsonValue): string | null {
  const text = args !== null && typeof args === 'object' && !Array.isArray(args) ? args.text : null
  return typeof text === 'string' ? text : null
}

/** The answer to a question is its event's id; to a word that acts at once it is what was done. */
function accepted(items: Item[], { id, payload }: AnswerMessage): Item[] {
  const { event_id: eventId, done } = payload as { event_id?: string | null; done?: string }
  return changed(items, byKey(id), (turn) =>
    eventId
      ? turn.eventId
        ? turn
        : { ...turn, eventId, status: 'waiting' }
      : { ...turn, text: done ?? '', status: 'COMPLETED' },
  )
}

function refused(items: Item[], { id, payload, at }: ErrorMessage): Item[] {
  const after = changed(items, byKey(id), (turn) => ({ ...turn, status: 'FAILED', error: payload.sentence }))
  return after === items ? noticed(items, payload.sentence, true, at) : after
}

function heard(items: Item[], { payload, at, seq }: HeardMessage): Item[] {
  const { text: content, held_back: reason, event_id: eventId } = payload
  if (reason) {
    const key = seq === null ? madeKey() : `heard-${seq}` // the past may be told twice
    return items.some((item) => item.key === key)
      ? items
      : added(items, { kind: 'held_back', key, text: content, reason, at })
  }
  if (!eventId) return items
  const here = items.find((item): item is Turn => item.kind === 'turn' && isFor(item, { event_id: eventId, content }))
  if (here?.eventId) return items
  if (here) return changed(items, byKey(here.key), (turn) => ({ ...turn, eventId, status: 'waiting' }))
  const source = payload.session === 'room' ? 'mic' : 'http'
  return limited([...items, { ...emptyTurn(eventId, at), eventId, source, content, status: 'waiting' }])
}

/** What was erased leaves the page: turns by their events, what was held back by its time. */
function without(items: Item[], { event_ids: erased, since }: Forgotten): Item[] {
  return items.filter((item) => {
    if (item.kind === 'turn') return item.eventId === null || !erased.includes(item.eventId)
    return item.kind === 'notice' || since === null || Date.parse(item.at) < Date.parse(since)
  })
}

function callOf(message: ToolCallStartedMessage | ToolCallFinishedMessage): ToolCall {
  const { call_id: callId, tool_name: name } = message.payload
  if (message.event === 'tool_call_started') {
    return { callId, name, args: message.payload.args, status: 'running', result: '', seconds: null }
  }
  const { status, result, seconds } = message.payload
  return { callId, name, args: null, status, result, seconds }
}

function withCall(tools: readonly ToolCall[], call: ToolCall): ToolCall[] {
  const before = tools.find((each) => each.callId === call.callId)
  if (!before) return [...tools, call]
  return tools.map((each) => (each === before ? { ...call, args: call.args ?? before.args } : each))
}

const byRun =
  (runId: string | null) =>
  (turn: Turn): boolean =>
    runId !== null && turn.runId === runId
const byKey =
  (key: string | null) =>
  (turn: Turn): boolean =>
    turn.key === key
const byEvent =
  (eventId: string) =>
  (turn: Turn): boolean =>
    turn.eventId === eventId

function changed(items: Item[], which: (turn: Turn) => boolean, change: (turn: Turn) => Turn): Item[] {
  let any = false
  const after = items.map((item) => {
    if (item.kind !== 'turn' || !which(item)) return item
    any = true
    return change(item)
  })
  return any ? after : items
}

function limited(items: Item[]): Item[] {
  return items.length > MOST_ITEMS ? items.slice(-MOST_ITEMS) : items
}
