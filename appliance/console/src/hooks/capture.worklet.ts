// On the audio thread: the microphone as int16 mono of 16 kHz, 512 samples a frame; null once it was told to end, and
// nothing after it, however long the microphone is still joined to it.

declare const sampleRate: number // Hz, of the context
declare function registerProcessor(name: string, processor: unknown): void
declare class AudioWorkletProcessor {
  readonly port: MessagePort
}

const RATE = 16_000 // Hz
const FRAME = 512 // samples

class Capture extends AudioWorkletProcessor {
  private frame = new Int16Array(FRAME)
  private filled = 0
  private sum = 0
  private count = 0
  private position = 0 // of the input sample, in output samples
  private isOver = false

  constructor() {
    super()
    this.port.onmessage = () => {
      this.isOver = true
      this.post(this.frame.slice(0, this.filled))
      this.port.postMessage(null)
    }
  }

  /** Average the samples that fall into one of 16 kHz: of a context at 16 kHz each one as it is. */
  process([input]: Float32Array[][]): boolean {
    if (this.isOver) return false
    for (const sample of input?.[0] ?? []) {
      this.sum += sample
      this.count += 1
      this.position += RATE / sampleRate
      if (this.position < 1) continue
      this.position -= 1
      this.take(this.sum / this.count)
      this.sum = this.count = 0
    }
    return true
  }

  private take(sample: number): void {
    this.frame[this.filled++] = Math.max(-1, Math.min(1, sample)) * 32_767
    if (this.filled < FRAME) return
    this.post(this.frame)
    this.frame = new Int16Array(FRAME)
    this.filled = 0
  }

  private post(frame: Int16Array): void {
    if (frame.length) this.port.postMessage(frame.buffer, [frame.buffer])
  }
}

registerProcessor('capture', Capture)
