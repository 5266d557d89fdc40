// One turn: the question, what was done about it, and the answer as far as it has come.
import * as m from 'motion/react-m'
import { memo } from 'react'
import { useAura } from '../../hooks/useAura'
import { useClockTime } from '../../hooks/useTime'
import { useWords } from '../../hooks/useWords'
import { othersBefore, type ToolCall, type Turn } from '../../store/conversation'
import type { Words } from '../../words/en'
import { Icon } from '../Icon'
import { ToolCard } from './ToolCard'

export const TurnCard = memo(function TurnCard({ turn }: { turn: Turn }) {
  return (
    <m.article
      data-testid="turn"
      data-status={turn.status}
      initial={{ opacity: 0, y: 8 }}
      animate={{ opacity: 1, y: 0 }}
      transition={{ duration: 0.18 }}
      className="flex flex-col gap-3"
    >
      <Question turn={turn} />
      {turn.tools.filter(isShown).map((call) => (
        <ToolCard key={call.callId} call={call} />
      ))}
      <Answer turn={turn} />
    </m.article>
  )
})

/** Calls that only speak or end the event are no cards, unless they failed. */
const QUIET = ['reply', 'complete_event', 'suspend_event']
const isShown = (call: ToolCall): boolean =>
  !QUIET.includes(call.name) || call.status === 'error' || call.status === 'refused'

function Question({ turn }: { turn: Turn }) {
  const words = useWords()
  const time = useClockTime(turn.at)
  const who = askerOf(turn.source, words)
  if (!turn.content) return null
  if (!who)
    return (
      <p className="text-sm text-soft">
        {words.talk.ofItself} · {time} · <bdi>{turn.content}</bdi>
      </p>
    )
  return (
    <div className="ml-auto max-w-[85%]">
      <p className="mb-1 flex items-center justify-end gap-1.5 text-xs text-soft">
        {turn.source === 'mic' && <Icon name="microphone" size={14} />}
        {who} · <time dateTime={turn.at}>{time}</time>
      </p>
      <div className="rounded-2xl rounded-tr-md bg-accent-wash px-4 py-2.5">
        <p data-testid="question" dir="auto" className="whitespace-pre-wrap break-words">
          {turn.content}
        </p>
        {turn.attachments.map((name) => (
          <p key={name} className="mt-1 flex items-center gap-1.5 text-sm text-soft">
            <Icon name="attach" size={16} />
            <bdi>{name}</bdi>
          </p>
        ))}
      </div>
    </div>
  )
}

/** Where events come from that no person made. */
const OWN = ['system', 'self', 'timer', 'calendar', 'home', 'agent', 'mcp']

/** Who asked; "" where nobody did. */
function askerOf(source: string, words: Words): string {
  if (source === 'mic') return words.talk.aloud
  if (OWN.includes(source)) return ''
  return words.talk.you
}

function Answer({ turn }: { turn: Turn }) {
  const words = useWords()
  const isSounding = useAura((aura) => aura.sounding !== null && aura.sounding.eventId === turn.eventId)
  const told = outcomeOf(turn, words)
  const isAtWork = !turn.text && ['sending', 'waiting', 'running'].includes(turn.status)
  return (
    <div className="max-w-[92%]">
      {turn.text && (
        <p data-testid="answer" dir="auto" className="whitespace-pre-wrap break-words text-[1.0625rem] leading-relaxed">
          <AnswerWords turn={turn} />
          {turn.status === 'running' && !turn.interrupted && (
            <span
              aria-hidden="true"
              className="ml-0.5 inline-block h-[1em] w-0.5 animate-breathe bg-accent align-text-bottom"
            />
          )}
        </p>
      )}
      {isAtWork && (
        <p className="text-soft">{turn.status === 'waiting' ? <Waiting turn={turn} /> : atWork(turn, words)}</p>
      )}
      <p className="mt-1 flex flex-wrap items-center gap-x-3 text-sm text-soft empty:hidden">
        {isSounding && (
          <span className="flex items-center gap-1.5 text-accent">
            <Icon name="voice" size={16} />
            {words.talk.sounding}
          </span>
        )}
        {turn.eventId && turn.text && turn.status !== 'running' && (
          <a
            href={`#/memory/journal/${encodeURIComponent(turn.eventId)}`}
            className="text-xs text-soft underline-offset-2 hover:underline"
          >
            {words.talk.why}
          </a>
        )}
        {turn.interrupted && <span className="text-warning">{words.talk.interrupted}</span>}
        {told && (
          <span className={turn.status === 'FAILED' || turn.status === 'TIMED_OUT' ? 'text-danger' : ''}>{told}</span>
        )}
      </p>
    </div>
  )
}

/** The answer's words; what was cut off is struck out. */
function AnswerWords({ turn }: { turn: Turn }) {
  if (!turn.interrupted) return piecesOf(turn.text)
  const { heard, unsaid } = turn.interrupted
  if (!heard && !unsaid) return turn.text
  const isPart = turn.text.startsWith(heard)
  const rest = isPart ? turn.text.slice(heard.length) : unsaid
  return (
    <>
      {isPart || heard ? heard : turn.text}
      {rest.trim() && <del className="text-soft decoration-soft/70">{isPart ? rest : ` ${rest}`}</del>}
    </>
  )
}

const PIECE = 2_000 // characters, and up to twice as many before the next space

/** A text node for each piece: of a long answer that grows the browser shapes only the last one anew. */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  let start = 0
  while (text.length - start > 2 * PIECE) {
    const space = text.slice(start + PIECE, start + 2 * PIECE).search(/\s/)
    const end = start + PIECE + (space < 0 ? PIECE - Number(isHalf(text, start + 2 * PIECE)) : space)
    pieces.push(text.slice(start, end))
    start = end
  }
  return [...pieces, text.slice(start)]
}

/** Whether a character's two halves stand on both sides of a place. */
const isHalf = (text: string, place: number): boolean => /[\uDC00-\uDFFF]/.test(text.charAt(place))

const atWork = (turn: Turn, words: Words): string =>
  turn.status === 'sending' ? words.talk.sending : words.talk.working

/** What a turn waits for. What another owner has in hand is known by the state alone. */
function Waiting({ turn }: { turn: Turn }) {
  const words = useWords()
  const others = useAura(({ items, state }) => othersBefore(items, turn, BUSY.includes(state)))
  return others === null ? words.talk.waiting : words.talk.waitingBehind(others)
}

const BUSY = ['thinking', 'using_a_tool']

function outcomeOf(turn: Turn, words: Words): string {
  switch (turn.status) {
    case 'FAILED':
      return turn.error || words.talk.failed
    case 'TIMED_OUT':
      return words.talk.timedOut
    case 'SUSPENDED':
      return words.talk.suspended
    case 'doubtful':
      return words.talk.doubtful
    case 'unknown':
      return turn.text ? '' : words.talk.unknown
    default:
      return ''
  }
}
