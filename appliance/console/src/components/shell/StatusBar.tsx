// What it is doing, in one line above every view.
import { useAura } from '../../hooks/useAura'
import { useWords } from '../../hooks/useWords'
import { preferenceStore, type Theme } from '../../store/preferenceStore'
import { Icon } from '../Icon'

export function StatusBar() {
  const words = useWords()
  const { connection, lost } = useAura(({ connection, lost }) => ({ connection, lost }))
  return (
    <header className="flex print:hidden min-h-12 shrink-0 items-center gap-2 border-b border-line bg-surface px-4 pt-[env(safe-area-inset-top)] md:bg-ground">
      <h1 className="flex items-center gap-2 font-semibold tracking-tight md:hidden">
        <img src="./icon.svg" alt="" width={22} height={22} />
        {words.page.name}
      </h1>
      <div className="ml-auto min-w-0 md:ml-0 md:mr-auto">{connection === 'open' ? <State /> : <Connecting />}</div>
      {lost > 0 && <p className="text-sm text-warning">{words.connection.lostMessages(lost)}</p>}
      <Looks />
    </header>
  )
}

function State() {
  const words = useWords()
  const { state, tool, muted } = useAura(({ state, tool, muted }) => ({ state, tool, muted }))
  const isResting = state === 'idle' || state === 'listening'
  const shown =
    muted && isResting
      ? words.state.muted
      : state === 'using_a_tool' && tool
        ? words.state.usingTool(tool)
        : words.state[state]
  return (
    <p
      data-testid="state"
      data-state={state}
      data-muted={muted}
      className={`flex items-center gap-2 text-sm ${isResting ? 'text-soft' : 'font-medium text-accent'}`}
    >
      <span
        aria-hidden="true"
        className={`size-2.5 shrink-0 rounded-full ${muted ? 'bg-warning' : isResting ? 'bg-soft' : 'animate-breathe bg-accent'}`}
      />
      <span className="truncate">{shown}</span>
    </p>
  )
}

function Connecting() {
  const words = useWords()
  const connection = useAura((aura) => aura.connection)
  return (
    <p role="status" className="flex items-center gap-2 text-sm text-warning">
      <span aria-hidden="true" className="size-2.5 shrink-0 animate-breathe rounded-full bg-warning" />
      <span className="truncate">{connection === 'lost' ? words.connection.lost : words.connection.connecting}</span>
    </p>
  )
}

const THEMES: Theme[] = ['system', 'light', 'dark']

/** Language, and light or dark, of this browser. */
function Looks() {
  const words = useWords()
  const { language, theme, prefer } = preferenceStore()
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!
  const button =
    'grid h-10 min-w-10 place-items-center rounded-full text-sm font-medium text-soft hover:bg-raised hover:text-ink'
  return (
    <div className="-mr-2 flex shrink-0">
      <button
        type="button"
        className={button}
        aria-label={words.page.theme[theme]}
        title={words.page.theme[theme]}
        onClick={() => prefer({ theme: next })}
      >
        <Icon name={theme} />
      </button>
      <button
        type="button"
        className={button}
        lang={language === 'zh' ? 'en' : 'zh-CN'}
        onClick={() => prefer({ language: language === 'zh' ? 'en' : 'zh' })}
      >
        {language === 'zh' ? 'English' : '中文'}
      </button>
    </div>
  )
}
