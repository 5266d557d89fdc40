// The one WebSocket of the page: connects, reconnects, hands messages and sound on, and sends.
import type { ClientMessage, ServerMessage, UserMessage, UserWords } from '../protocol'
import { addressOf, RequestFailed, send } from './requests'

/** How the page stands to the appliance. */
export type Connection = 'connecting' | 'open' | 'lost' | 'needs_token'

/** What is told of; every call comes from the socket's own event, in the order of arrival. */
export interface SocketListener {
  onConnection(connection: Connection): void
  onMessage(message: ServerMessage): void
  /** Speech of the appliance: int16 mono PCM, at the sample rate that `speech_started` said. */
  onSound(pcm: ArrayBuffer): void
  /** These messages were on their way when the connection broke: nobody knows whether they arrived. */
  onUncertain(ids: string[]): void
}

/** What a person typed, and what belongs to it. */
export interface Written {
  /** By which its answer names it. */
  id: string
  content: string
  session: string
  attachments: string[]
  /** Whether the answer is to sound here. */
  speak: boolean
}

const FIRST_REST = 250 // ms; doubles
const LONGEST_REST = 8_000 // ms
const PROBE_PATIENCE = 3_000 // ms in which a connection that may have died in a pocket has to show that it lives
const LOST_REST = 30_000 // ms in which a page that is too slow asks for the past only once
const MOST_WAITING = 1_000_000 // bytes of microphone that wait to be sent; more is dropped, speech is of no use late

/** One connection that is kept up until `close`. Nothing typed is lost: what cannot be sent yet waits for the next one. */
export class WebSocketManager {
  private socket: WebSocket | null = null
  private rest = FIRST_REST
  private timer: number | undefined
  private outbox = new Map<string, string>()
  private onTheirWay = new Set<string>()
  private wantsLevels = false
  private closed = false
  private isCaughtUp = false
  private lostAt = -LOST_REST
  /** Set while the past is to be told again, because messages are missing that were not told since. */
  private catchingUp: number | undefined
  /** The event whose answer is to be cut short, until it has ended. */
  private toStop: string | null = null
  /** Whether the person knows that a stop waits for the next connection. */
  private isStopTold = false
  private probing: number | undefined
  private lastSeq = 0

  constructor(private readonly listener: SocketListener) {
    addEventListener('online', this.hurry)
    document.addEventListener('visibilitychange', this.hurry)
  }

  /** Connect, unless a connection is there or being made. */
  connect(): void {
    if (this.socket || this.closed) return
    this.listener.onConnection('connecting')
    this.isCaughtUp = false
    const address = addressOf('ws')
    address.protocol = address.protocol.replace('http', 'ws')
    address.searchParams.set('after', String(this.lastSeq))
    address.searchParams.set('levels', String(this.wantsLevels))
    const socket = new WebSocket(address)
    socket.binaryType = 'arraybuffer'
    socket.onopen = () => this.opened()
    socket.onmessage = (message: MessageEvent<string | ArrayBuffer>) => this.received(message.data)
    socket.onclose = () => this.lost(socket)
    this.socket = socket
  }

  /** End for good. */
  close(): void {
    this.closed = true
    clearTimeout(this.timer)
    clearTimeout(this.catchingUp)
    removeEventListener('online', this.hurry)
    document.removeEventListener('visibilitychange', this.hurry)
    this.socket?.close()
  }

  /** Try again at once, with what has changed: a token, a network. */
  retry(): void {
    if (this.socket?.readyState !== WebSocket.OPEN) this.reconnect()
  }

  /** Be told the past anew, as after a reload. */
  startOver(): void {
    this.lastSeq = 0
    this.reconnect()
  }

  /** Say whether somebody looks at levels: they come only then. */
  lookAtLevels(isLooking: boolean): void {
    if (this.wantsLevels === isLooking) return
    this.wantsLevels = isLooking
    if (this.socket) this.reconnect()
  }

  /** Send what a person typed, now or once there is a connection. */
  say({ id, ...written }: Written): void {
    const now = new Date()
    const payload: UserWords = {
      ...written,
      client_timestamp_utc: now.toISOString(),
      client_timezone_offset: now.getTimezoneOffset(),
    }
    this.outbox.set(id, JSON.stringify({ type: 'user_message', id, payload } satisfies UserMessage))
    if (this.socket?.readyState === WebSocket.OPEN) this.sendWaiting()
  }

  /**
   * Cut the answer to an event short, as the word "stop" does: now, and again with the next connection if it still goes
   * on then. False where there is no connection, and nothing was told of that yet.
   */
  stop(eventId: string | null): boolean {
    this.toStop = eventId
    const isTold = this.isStopTold
    this.isStopTold = !this.sendNow({ type: 'stop' })
    return isTold || !this.isStopTold
  }

  /** The microphone of this page begins; frames of int16 mono at 16 kHz follow. False where there is no connection. */
  startAudio(session: string, mode: 'push_to_talk' | 'open'): boolean {
    return this.sendNow({ type: 'audio_start', payload: { session, mode } })
  }

  /** One piece of the microphone. */
  sendAudio(pcm: ArrayBuffer): void {
    const socket = this.socket
    if (socket?.readyState === WebSocket.OPEN && socket.bufferedAmount < MOST_WAITING) socket.send(pcm)
  }

  /** The microphone has ended. */
  endAudio(): void {
    this.sendNow({ type: 'audio_end' })
  }

  private sendNow(message: ClientMessage): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false
    this.socket.send(JSON.stringify(message))
    return true
  }

  private sendWaiting(): void {
    for (const [id, text] of this.outbox) {
      this.socket?.send(text)
      this.onTheirWay.add(id)
    }
    this.outbox.clear()
  }

  private opened(): void {
    this.rest = FIRST_REST
    this.isStopTold = false
    this.listener.onConnection('open')
    this.sendWaiting()
  }

  private received(data: string | ArrayBuffer): void {
    clearTimeout(this.probing)
    if (typeof data !== 'string') {
      this.listener.onSound(data)
      return
    }
    const message = JSON.parse(data) as ServerMessage
    if (message.event === 'lost' && this.isCaughtUp && !this.passesOver()) return
    if (message.event === 'snapshot') {
      this.isCaughtUp = true
      if (this.toStop !== null && message.payload.run?.event_id === this.toStop) this.sendNow({ type: 'stop' })
      else this.toStop = null
    }
    if (typeof message.seq === 'number' && this.catchingUp === undefined) this.lastSeq = message.seq
    if ('id' in message && message.id !== null) this.onTheirWay.delete(message.id)
    this.listener.onMessage(message)
  }

  /** The journal tells again what this page was too slow for; once more only after a rest, and until then it is missing. */
  private passesOver(): boolean {
    const rest = this.lostAt + LOST_REST - Date.now()
    if (rest > 0) {
      this.catchingUp ??= setTimeout(() => this.catchUp(), rest)
      return true
    }
    this.catchUp()
    return false
  }

  private catchUp(): void {
    this.lostAt = Date.now()
    this.reconnect()
  }

  private lost(socket: WebSocket): void {
    if (socket !== this.socket || this.closed) return
    this.drop()
    void this.again()
  }

  /** The handshake's status is hidden from pages, so a plain request finds out whether a token is wanted. */
  private async again(): Promise<void> {
    try {
      await send('status')
      this.listener.onConnection('lost')
    } catch (error) {
      const refused = error instanceof RequestFailed && (error.status === 401 || error.status === 403)
      this.listener.onConnection(refused ? 'needs_token' : 'lost')
      if (refused) return
    }
    this.timer = setTimeout(() => this.connect(), this.rest * (0.75 + Math.random() / 2))
    this.rest = Math.min(this.rest * 2, LONGEST_REST)
  }

  /** A phone that slept has connections that nobody closed: whatever comes shows that this one lives. */
  private probe(): void {
    clearTimeout(this.probing)
    this.probing = setTimeout(() => this.reconnect(), PROBE_PATIENCE)
  }

  private reconnect(): void {
    this.rest = FIRST_REST
    clearTimeout(this.timer)
    this.drop()
    this.connect()
  }

  private drop(): void {
    if (!this.socket) return
    clearTimeout(this.probing)
    clearTimeout(this.catchingUp)
    this.catchingUp = undefined
    if (this.onTheirWay.size > 0) this.listener.onUncertain([...this.onTheirWay])
    this.onTheirWay.clear()
    this.socket.onopen = this.socket.onmessage = this.socket.onclose = null
    this.socket.close()
    this.socket = null
  }

  private hurry = (): void => {
    if (document.visibilityState !== 'visible' || this.closed) return
    if (this.sendNow({ type: 'request', id: 'probe', payload: { do: 'ping' } })) this.probe()
    else this.retry()
  }
}
