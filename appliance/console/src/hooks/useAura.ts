// The appliance as components see it: a slice of the store, and what can be done with it.
import { useShallow } from 'zustand/react/shallow'
import { speechSink } from './speech'
import { wordsNow } from './useWords'
import { WebSocketManager } from '../socket/WebSocketManager'
import { auraStore, SESSION, type Aura } from '../store/auraStore'
import { FrameBuffer } from '../store/frame'
import { preferenceStore } from '../store/preferenceStore'

/** A slice of what is known of the appliance; the component is drawn anew when the slice changes. */
export function useAura<Slice>(slice: (aura: Aura) => Slice): Slice {
  return auraStore(useShallow(slice))
}

const frames = new FrameBuffer((message) => auraStore.getState().receive(message))

/** The page's one connection. */
export const socket = new WebSocketManager({
  onConnection: (connection) => {
    if (connection !== 'open') speechSink.cut()
    frames.flush()
    auraStore.getState().connected(connection)
  },
  onMessage: (message) => {
    if (message.event === 'speech_started') speechSink.start(message.payload.sample_rate)
    if (message.event === 'interrupted') speechSink.cut()
    frames.take(message)
  },
  onSound: (pcm) => speechSink.play(pcm),
  onUncertain: (ids) => auraStore.getState().doubt(ids),
})

/** Show what the journal has, and nothing that this page had besides: an owner was forgotten. */
export function startOver(): void {
  auraStore.getState().clear()
  socket.startOver()
}

/** Ask something in writing; the answer grows in the conversation. */
export function ask(content: string, attachments: { id: string; name: string }[] = []): void {
  const id = auraStore.getState().ask(
    content,
    attachments.map((file) => file.name),
  )
  const { voiceHere } = preferenceStore.getState()
  if (voiceHere) speechSink.wake()
  socket.say({ id, content, session: SESSION, attachments: attachments.map((file) => file.id), speak: voiceHere })
}

/** Cut the answer short: its sound here at once, the rest by the appliance. */
export function stop(): void {
  speechSink.cut()
  const { items, sounding, notice } = auraStore.getState()
  const running = items.findLast((item) => item.kind === 'turn' && item.status === 'running')
  const eventId = sounding?.eventId ?? (running?.kind === 'turn' ? running.eventId : null)
  if (!socket.stop(eventId)) notice(wordsNow().talk.stopLater)
}
