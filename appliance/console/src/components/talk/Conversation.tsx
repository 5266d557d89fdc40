// What was said so far; stays at its newest end while somebody reads there.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useAura } from '../../hooks/useAura'
import { useWords } from '../../hooks/useWords'
import { MOST_ITEMS, type Item } from '../../store/conversation'
import { Icon } from '../Icon'
import { HeldBackWords, NoticeWords } from './Aside'
import { TurnCard } from './TurnCard'

const NEAR = 48 // px from the end that still count as reading there

export function Conversation() {
  const words = useWords()
  const items = useAura((aura) => aura.items.filter(hasSomething))
  const hasEarlier = useAura((aura) => aura.hasEarlier || aura.items.length >= MOST_ITEMS)
  const { scroller, isAtEnd, toEnd } = useStayingAtEnd(items)
  return (
    <div className="relative min-h-0 flex-1 print:h-auto">
      <div
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={words.talk.conversation}
        className="h-full overflow-y-auto overscroll-contain outline-offset-[-2px] print:h-auto print:overflow-visible"
      >
        <ol className="mx-auto flex min-h-full max-w-3xl flex-col gap-6 px-4 py-6">
          {items.length === 0 ? <Empty /> : hasEarlier && <Earlier />}
          {items.map((item) => (
            <li key={item.key}>
              {item.kind === 'turn' ? (
                <TurnCard turn={item} />
              ) : item.kind === 'held_back' ? (
                <HeldBackWords item={item} />
              ) : (
                <NoticeWords item={item} />
              )}
            </li>
          ))}
        </ol>
      </div>
      {!isAtEnd && (
        <button
          type="button"
          onClick={toEnd}
          className="button absolute bottom-3 left-1/2 -translate-x-1/2 shadow-lg print:hidden"
        >
          <Icon name="down" size={18} />
          {words.talk.newest}
        </button>
      )}
    </div>
  )
}

/** What was forgotten has left a turn without words. */
function hasSomething(item: Item): boolean {
  if (item.kind !== 'turn') return true
  return Boolean(item.content || item.text || item.tools.length) || item.status === 'running'
}

function Empty() {
  const words = useWords()
  return (
    <li className="m-auto max-w-sm py-10 text-center">
      <img src="./icon.svg" alt="" width={56} height={56} className="mx-auto mb-5" />
      <p className="text-xl font-semibold tracking-tight">{words.talk.empty}</p>
      <p className="mt-2 text-soft">{words.talk.emptyHint}</p>
    </li>
  )
}

function Earlier() {
  const words = useWords()
  return (
    <li data-testid="earlier" className="text-center text-sm text-soft">
      {words.talk.hasEarlier}{' '}
      <a href="#/memory/journal" className="text-accent hover:underline">
        {words.talk.toEarlier}
      </a>
    </li>
  )
}

function useStayingAtEnd(content: unknown) {
  const scroller = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  const follows = useRef(true)
  const toEnd = useCallback(() => {
    follows.current = true
    setAtEnd(true)
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
  }, [])
  useEffect(() => {
    const element = scroller.current!
    const look = () => {
      follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR
      setAtEnd(follows.current)
    }
    const stay = new ResizeObserver(() => follows.current && toEnd())
    stay.observe(element)
    stay.observe(element.firstElementChild!)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      stay.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [toEnd])
  useLayoutEffect(() => {
    if (follows.current) toEnd()
  }, [content, toEnd])
  return { scroller, isAtEnd, toEnd }
}
