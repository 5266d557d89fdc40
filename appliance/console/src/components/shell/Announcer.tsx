// What a screen reader is told without being asked: how a finished answer begins, what rings, problems.
import { useAura } from '../../hooks/useAura'

export function Announcer() {
  const announcement = useAura((aura) => aura.announcement)
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {announcement}
    </div>
  )
}
