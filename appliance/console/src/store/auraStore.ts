// The one store: what the page knows of the appliance, changed by messages and by what is done here.
import { create } from 'zustand'
import type { Levels, ServerMessage, StateChanged, TimerChanged, TimerMessage } from '../protocol'
import type { Connection } from '../socket/WebSocketManager'
import { asked, doubted, madeKey, noticed, told, type Item } from './conversation'

/** The session of this page: its own context, apart from the room's and from other programs'. */
export const SESSION = 'console'

/** What is sounding just now, for its turn. */
export interface Sounding {
  eventId: string | null
  text: string
}

/** A file that belongs to the next question. */
export interface HeldFile {
  key: string
  name: string
  /** null while it is on its way. */
  id: string | null
}

export interface Aura {
  connection: Connection
  /** Whether what comes is new: before that the past is told again, up to a snapshot. */
  isCaughtUp: boolean
  version: string
  state: StateChanged['state']
  tool: string | null
  muted: boolean
  items: Item[]
  /** Whether more was said before than is told again. */
  hasEarlier: boolean
  /** What is typed and not sent yet: it stays while another view is looked at. */
  draft: string
  /** Files for the next question. */
  files: HeldFile[]
  counts: Record<string, number>
  /** Grows whenever something in the mailbox or a timer has changed: whoever shows them asks anew. */
  mailboxAge: number
  /** Grows with each forgetting: whoever shows what was said asks anew. */
  forgotten: number
  /** Timers that ring now. */
  ringing: TimerChanged[]
  levels: Levels | null
  sounding: Sounding | null
  /** The last sentences for a screen reader: the beginning of an answer once it is whole, and what rings. */
  announcement: string
  /** Messages that this page was too slow for. */
  lost: number
  /** The last waterfall of a turn that came, for whoever shows them. */
  lastTurn: { [key: string]: unknown } | null
}

interface Changes {
  connected(connection: Connection): void
  receive(message: ServerMessage): void
  /** Put a question into the conversation, and return the id by which its answer will name it. */
  ask(content: string, attachments: string[]): string
  write(draft: string): void
  hold(change: (files: HeldFile[]) => HeldFile[]): void
  /** Nobody knows whether these arrived. */
  doubt(ids: string[]): void
  notice(text: string, isProblem?: boolean): void
  announce(text: string): void
  /** Take everything away. */
  clear(): void
  silence(id: string): void
}

const empty: Aura = {
  connection: 'connecting',
  isCaughtUp: false,
  version: '',
  state: 'idle',
  tool: null,
  muted: false,
  items: [],
  hasEarlier: false,
  draft: '',
  files: [],
  counts: {},
  mailboxAge: 0,
  forgotten: 0,
  ringing: [],
  levels: null,
  sounding: null,
  announcement: '',
  lost: 0,
  lastTurn: null,
}

export const auraStore = create<Aura & Changes>()((set) => ({
  ...empty,
  connected: (connection) => set({ connection, isCaughtUp: false }),
  receive: (message) =>
    set((aura) => ({ items: told(aura.items, message, !aura.isCaughtUp), ...beside(aura, message) })),
  ask: (content, attachments) => {
    const id = madeKey()
    set((aura) => ({ items: asked(aura.items, id, content, attachments, new Date().toISOString()) }))
    return id
  },
  write: (draft) => set({ draft }),
  hold: (change) => set((aura) => ({ files: change(aura.files) })),
  doubt: (ids) => set((aura) => ({ items: doubted(aura.items, ids) })),
  notice: (text, isProblem = false) =>
    set((aura) => ({ items: noticed(aura.items, text, isProblem, new Date().toISOString()), announcement: text })),
  announce: (text) => set({ announcement: text }),
  clear: () => set({ items: [], hasEarlier: false, draft: '', files: [] }),
  silence: (id) => set((aura) => ({ ringing: aura.ringing.filter((timer) => timer.id !== id) })),
}))

/** What a message changes beside the conversation. */
function beside(aura: Aura, message: ServerMessage): Partial<Aura> {
  switch (message.event) {
    case 'snapshot': {
      const { version, state, tool, muted, mailbox } = message.payload
      return { version, state, tool, muted, counts: mailbox, mailboxAge: aura.mailboxAge + 1, isCaughtUp: true }
    }
    case 'state':
      return { ...message.payload, ...(message.payload.state === 'speaking' ? {} : { sounding: null }) }
    case 'levels':
      return { levels: message.payload }
    case 'mailbox':
      return { counts: message.payload.counts, mailboxAge: aura.mailboxAge + 1 }
    case 'forgotten': {
      const { mailboxAge, forgotten } = aura
      return { mailboxAge: mailboxAge + 1, forgotten: forgotten + 1, sounding: null, announcement: '' }
    }
    case 'timer':
      return { ...ringingAfter(aura.ringing, message), mailboxAge: aura.mailboxAge + 1 }
    case 'sentence':
      return { sounding: { eventId: message.payload.event_id, text: message.payload.text } }
    case 'interrupted':
    case 'speech_ended':
      return { sounding: null }
    case 'run_finished':
      return aura.version ? { announcement: answerOf(aura.items, message.payload.event_id) ?? aura.announcement } : {}
    case 'lost':
      return isFromTheStart(aura) ? { hasEarlier: true } : { lost: aura.lost + message.payload.count }
    case 'turn':
      return { lastTurn: message.payload }
    case 'error':
      return { announcement: message.payload.sentence }
    default:
      return {}
  }
}

/** Whether the past is told again to a page that has none of it. */
const isFromTheStart = ({ isCaughtUp, items }: Aura): boolean =>
  !isCaughtUp && !items.some((item) => item.kind === 'turn' && item.eventId !== null)

const STILL_RINGS = 60_000 // ms

function ringingAfter(ringing: TimerChanged[], { payload: timer, at }: TimerMessage): Partial<Aura> {
  const others = ringing.filter((each) => each.id !== timer.id)
  const rings = timer.state === 'rings' && Date.now() - Date.parse(at) < STILL_RINGS
  return rings ? { ringing: [...others, timer], announcement: timer.label } : { ringing: others }
}

/** A finished answer for a screen reader. */
function answerOf(items: Item[], eventId: string): string | undefined {
  const turn = items.find((item) => item.kind === 'turn' && item.eventId === eventId)
  return turn?.kind === 'turn' && turn.text ? beginningOf(turn.text) : undefined
}

const LONGEST_ANNOUNCED = 300 // characters

/** As much of an answer as is told unasked: the whole of a long one stands in the conversation, to be read at will. */
function beginningOf(text: string): string {
  if (text.length <= LONGEST_ANNOUNCED) return text
  const cut = text.slice(0, LONGEST_ANNOUNCED)
  const sentences = /^.*(?:[.!?](?=\s)|[。！？])/su.exec(cut) ?? /^.*[\s，]/su.exec(cut)
  return `${(sentences?.[0] ?? cut).trimEnd()} …`
}
