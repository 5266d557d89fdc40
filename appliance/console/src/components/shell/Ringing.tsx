// A timer that rings is shown above every view until it is stopped.
import { useAct } from '../../hooks/useRequest'
import { useAura } from '../../hooks/useAura'
import { useWords } from '../../hooks/useWords'
import type { TimerChanged } from '../../protocol'
import { auraStore } from '../../store/auraStore'
import { Icon } from '../Icon'
import { Failed } from './Failed'

export function Ringing() {
  const ringing = useAura((aura) => aura.ringing)
  // What is told of the past rang at its time; whether it rings still is known at the end of it.
  const isCaughtUp = useAura((aura) => aura.isCaughtUp)
  return ringing.length === 0 || !isCaughtUp ? null : <Rings timers={ringing} />
}

// Of these alone: what could not be done about one ring is not said beside the next.
function Rings({ timers }: { timers: readonly TimerChanged[] }) {
  const words = useWords()
  const { act, isBusy, error } = useAct()
  // It stands here until the box has done it: what did not reach the box rings on.
  const end = async (what: 'stop' | 'snooze') => {
    if (await act('hush', { what })) for (const timer of timers) auraStore.getState().silence(timer.id)
  }
  return (
    <section
      aria-label={words.now.rings}
      className="flex flex-wrap items-center gap-3 bg-accent px-4 py-3 text-on-accent"
    >
      <Icon name="bell" />
      <p className="min-w-0 flex-1 font-medium">
        {words.now.rings}: <bdi>{timers.map((timer) => timer.label || words.now.unnamed).join(', ')}</bdi>
      </p>
      <button type="button" className="button" disabled={isBusy} onClick={() => void end('snooze')}>
        {words.now.snooze}
      </button>
      <button type="button" className="button" disabled={isBusy} onClick={() => void end('stop')}>
        {words.now.stopRinging}
      </button>
      {error !== null && <Failed sentence={error || words.page.unreachable} />}
    </section>
  )
}
