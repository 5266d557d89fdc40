// The frame around every view: skip link, views, what is going on, and the announcements for screen readers.
import { LazyMotion, MotionConfig } from 'motion/react'
import { lazy, Suspense, useEffect, useRef, type ComponentType, type LazyExoticComponent } from 'react'
import { useAura } from '../hooks/useAura'
import { useRoute, type View } from '../hooks/useRoute'
import { useTheme } from '../hooks/useTheme'
import { useWords } from '../hooks/useWords'
import { Login } from './login/Login'
import { Announcer } from './shell/Announcer'
import { Caught } from './shell/Caught'
import { Navigation } from './shell/Navigation'
import { Ringing } from './shell/Ringing'
import { StatusBar } from './shell/StatusBar'
import { Talk } from './talk/Talk'

const views: Record<View, ComponentType | LazyExoticComponent<ComponentType>> = {
  talk: Talk,
  now: lazy(() => import('./now/Now')),
  memory: lazy(() => import('./memory/Memory')),
  health: lazy(() => import('./health/Health')),
  settings: lazy(() => import('./settings/Settings')),
}

const motionFeatures = () => import('./shell/motion').then((motion) => motion.default)

export function App() {
  const { view } = useRoute()
  const words = useWords()
  const connection = useAura((aura) => aura.connection)
  useTheme()
  const main = useFocusOnChange(view)
  if (connection === 'needs_token') return <Login />
  const Shown = views[view]
  return (
    <LazyMotion features={motionFeatures} strict>
      <MotionConfig reducedMotion="user">
        <a
          href="#content"
          onClick={(click) => {
            click.preventDefault()
            main.current?.focus()
          }}
          className="button button-accent absolute left-2 top-2 z-50 -translate-y-20 focus:translate-y-0"
        >
          {words.page.skip}
        </a>
        <div className="flex h-full flex-col md:flex-row print:block print:h-auto">
          <Navigation view={view} />
          <div className="order-first flex min-h-0 min-w-0 flex-1 flex-col md:order-none print:block">
            <StatusBar />
            <Ringing />
            <main
              ref={main}
              id="content"
              tabIndex={-1}
              aria-label={words.page[view]}
              className="min-h-0 flex-1 outline-none"
            >
              <Caught key={view}>
                <Suspense fallback={<p className="p-6 text-soft">{words.page.loading}</p>}>
                  <Shown />
                </Suspense>
              </Caught>
            </main>
          </div>
        </div>
        <Announcer />
      </MotionConfig>
    </LazyMotion>
  )
}

/** Who changes the view by keyboard goes on in it; on the first view the focus stays where the browser has it. */
function useFocusOnChange(view: View) {
  const main = useRef<HTMLElement>(null)
  const before = useRef(view)
  useEffect(() => {
    if (before.current !== view) main.current?.focus()
    before.current = view
  }, [view])
  return main
}
