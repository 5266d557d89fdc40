// The page's words in the language that this browser chose.
import { preferenceStore } from '../store/preferenceStore'
import { en, type Words } from '../words/en'
import { zh } from '../words/zh'

/** Every text of the page, in the chosen language. */
export function useWords(): Words {
  return preferenceStore((preferences) => preferences.language) === 'zh' ? zh : en
}

/** The same, for what is said once and outside of a component. */
export const wordsNow = (): Words => (preferenceStore.getState().language === 'zh' ? zh : en)

/** The BCP 47 tag for dates and numbers. */
export function useLocale(): string {
  return preferenceStore((preferences) => preferences.language) === 'zh' ? 'zh-CN' : 'en-GB'
}
