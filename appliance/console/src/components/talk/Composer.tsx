// Where a person writes, speaks and attaches; Enter sends, Shift+Enter begins a line.
import { useRef, type ClipboardEvent, type FormEvent, type KeyboardEvent } from 'react'
import { useCommands } from '../../hooks/useCommands'
import type { Files } from '../../hooks/useFiles'
import { useMicrophone } from '../../hooks/useMicrophone'
import { ask, stop, useAura } from '../../hooks/useAura'
import { useWords } from '../../hooks/useWords'
import { auraStore } from '../../store/auraStore'
import { preferenceStore } from '../../store/preferenceStore'
import { Icon } from '../Icon'
import { Attached } from './Attached'
import { CommandList } from './CommandList'
import { HoldToTalk } from './HoldToTalk'

export function Composer({ files }: { files: Files }) {
  const words = useWords()
  const text = useAura((aura) => aura.draft)
  const setText = auraStore.getState().write
  const commands = useCommands(text)
  const field = useRef<HTMLTextAreaElement>(null)
  const send = (submitted?: FormEvent) => {
    submitted?.preventDefault()
    const content = text.trim()
    if (!content || files.isSending) return
    setText('')
    field.current?.focus()
    ask(content, files.take())
  }
  const onKey = (key: KeyboardEvent) => {
    if (key.key !== 'Enter' || key.shiftKey || key.nativeEvent.isComposing) return
    key.preventDefault()
    send()
  }
  const onPaste = (pasted: ClipboardEvent) => {
    if (pasted.clipboardData.files.length === 0) return
    pasted.preventDefault()
    files.add(pasted.clipboardData.files)
  }
  return (
    <form
      onSubmit={send}
      className="shrink-0 border-t border-line bg-surface print:hidden px-3 py-2.5 md:bg-ground md:px-4"
    >
      <div className="mx-auto max-w-3xl">
        <CommandList
          commands={commands}
          choose={(name) => {
            setText(`/${name} `)
            field.current?.focus()
          }}
        />
        <Attached files={files} />
        <div className="rounded-2xl border border-line bg-surface focus-within:border-accent">
          <textarea
            ref={field}
            rows={1}
            dir="auto"
            value={text}
            onChange={(changed) => setText(changed.target.value)}
            onKeyDown={onKey}
            onPaste={onPaste}
            placeholder={words.talk.write}
            aria-label={words.talk.write}
            enterKeyHint="send"
            className="field-sizing-content block max-h-48 min-h-11 w-full resize-none bg-transparent px-4 pb-1 pt-2.5 text-base outline-none"
          />
          <Controls files={files} canSend={text.trim() !== '' && !files.isSending} />
        </div>
      </div>
    </form>
  )
}

function Controls({ files, canSend }: { files: Files; canSend: boolean }) {
  const words = useWords()
  const picker = useRef<HTMLInputElement>(null)
  const microphone = useMicrophone()
  const { voiceHere, prefer } = preferenceStore()
  const isAnswering = useAura(({ items, sounding }) => {
    const last = items.findLast((item) => item.kind === 'turn')
    return sounding !== null || last?.status === 'running'
  })
  const isOpen = microphone.mode === 'open'
  return (
    <div className="flex items-center gap-1 px-1.5 pb-1.5">
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={(picked) => {
          files.add(picked.target.files ?? [])
          picked.target.value = ''
        }}
      />
      <Round label={words.talk.attach} onClick={() => picker.current?.click()}>
        <Icon name="attach" />
      </Round>
      <Round
        label={voiceHere ? words.talk.voiceOn : words.talk.voiceOff}
        isPressed={voiceHere}
        onClick={() => prefer({ voiceHere: !voiceHere })}
      >
        <Icon name={voiceHere ? 'voice' : 'silent'} />
      </Round>
      <Round
        label={isOpen ? words.talk.opened : words.talk.open}
        isPressed={isOpen}
        isDisabled={!microphone.isPossible || microphone.mode === 'push_to_talk'}
        onClick={() => (isOpen ? microphone.end() : microphone.start('open'))}
      >
        <Icon name="open" />
      </Round>
      <p role="status" className="min-w-0 flex-1 truncate px-1 text-sm text-soft">
        {microphone.isRefused
          ? words.talk.noMicrophone
          : !microphone.isPossible
            ? ''
            : microphone.mode === 'push_to_talk'
              ? words.talk.holding
              : isOpen
                ? words.talk.openShort
                : ''}
      </p>
      {isAnswering && (
        <Round label={words.talk.stop} onClick={stop}>
          <Icon name="stop" />
        </Round>
      )}
      {canSend ? (
        <button
          type="submit"
          aria-label={words.talk.send}
          title={words.talk.send}
          className="grid size-11 place-items-center rounded-full bg-accent text-on-accent hover:bg-accent-strong"
        >
          <Icon name="send" />
        </button>
      ) : (
        <HoldToTalk microphone={microphone} />
      )}
    </div>
  )
}

interface RoundButton {
  label: string
  isPressed?: boolean
  isDisabled?: boolean
  onClick(): void
  children: React.ReactNode
}

function Round({ label, isPressed, isDisabled = false, onClick, children }: RoundButton) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      disabled={isDisabled}
      onClick={onClick}
      className="grid size-11 shrink-0 place-items-center rounded-full text-soft hover:bg-raised hover:text-ink disabled:opacity-40 aria-pressed:bg-accent-wash aria-pressed:text-accent"
    >
      {children}
    </button>
  )
}
