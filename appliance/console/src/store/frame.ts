// Messages that come faster than the screen shows: the chunks of a frame are one change.
import type { ServerMessage, TextChunkMessage } from '../protocol'

const UNSEEN = 250 // ms between two changes of a page that nobody sees, where there are no frames

/** Hands messages on in their order; the chunks of one reply that come within a frame as one, with the next frame. */
export class FrameBuffer {
  private chunk: TextChunkMessage | null = null
  private frame = 0
  private timer = 0

  constructor(private readonly tell: (message: ServerMessage) => void) {}

  /** Take a message. */
  take(message: ServerMessage): void {
    if (message.event !== 'text_chunk') {
      this.flush()
      this.tell(message)
      return
    }
    const before = this.chunk
    if (before && (before.run_id !== message.run_id || before.payload.call_id !== message.payload.call_id)) this.flush()
    if (this.chunk) this.chunk = joined(this.chunk, message)
    else this.begin(message)
  }

  /** Hand on what waits. */
  readonly flush = (): void => {
    const chunk = this.chunk
    if (!chunk) return
    cancelAnimationFrame(this.frame)
    clearTimeout(this.timer)
    this.chunk = null
    this.tell(chunk)
  }

  private begin(chunk: TextChunkMessage): void {
    this.chunk = chunk
    this.frame = requestAnimationFrame(this.flush)
    this.timer = setTimeout(this.flush, UNSEEN)
  }
}

const joined = (one: TextChunkMessage, next: TextChunkMessage): TextChunkMessage => ({
  ...next,
  payload: { ...next.payload, chunk: one.payload.chunk + next.payload.chunk },
})
