// Files for the next question: by button, drop or paste; each is sent at once and known by its id.
import { useCallback, useState, type DragEvent } from 'react'
import { attach } from '../socket/requests'
import { auraStore, type HeldFile } from '../store/auraStore'
import { useAura } from './useAura'
import { sentenceOf } from './useRequest'

export interface Files {
  held: HeldFile[]
  isOver: boolean
  isSending: boolean
  add(files: Iterable<File>): void
  remove(key: string): void
  /** Return what is there and forget it: the question goes. */
  take(): { id: string; name: string }[]
  dropping: {
    onDragOver(event: DragEvent): void
    onDragLeave(event: DragEvent): void
    onDrop(event: DragEvent): void
  }
}

let made = 0
const { hold } = auraStore.getState()

export function useFiles(): Files {
  const held = useAura((aura) => aura.files)
  const [isOver, setOver] = useState(false)
  const remove = useCallback((key: string) => hold((before) => before.filter((file) => file.key !== key)), [])
  const add = useCallback(
    (files: Iterable<File>) => {
      for (const file of files) {
        const key = `file-${++made}`
        hold((before) => [...before, { key, name: file.name, id: null }])
        attach(file).then(
          ({ id }) => hold((before) => before.map((each) => (each.key === key ? { ...each, id } : each))),
          (error: unknown) => {
            remove(key)
            auraStore.getState().notice(sentenceOf(error), true)
          },
        )
      }
    },
    [remove],
  )
  const dropping = {
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes('Files')) return
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: (event: DragEvent) => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      setOver(false)
      add(event.dataTransfer.files)
    },
  }
  const take = () => {
    const ready = held.flatMap(({ id, name }) => (id ? [{ id, name }] : []))
    hold(() => [])
    return ready
  }
  return { held, isOver, isSending: held.some((file) => file.id === null), add, remove, take, dropping }
}
