// What is looked at: words to search for, a label, how many, when; and as what it is shown.
import type { Explorer, Look } from '../../hooks/useGraph'
import { useLocale, useWords } from '../../hooks/useWords'
import { Icon } from '../Icon'
import { SearchBox } from '../SearchBox'
import { AsOf, type Moment } from './AsOf'
import type { Schema } from './Explore'

const HOW_MANY = [100, 300, 500, 1_000, 2_000]

interface Bar extends Moment {
  graph: Explorer
  schema: Schema | null
  setLook(look: Look): void
  isList: boolean
  setList(isList: boolean): void
  hasPicture: boolean
}

export function ExploreBar({ graph, schema, setLook, isList, setList, hasPicture, asOf, setAsOf }: Bar) {
  const words = useWords()
  const search = (text: string) => {
    if (text) void graph.search(text)
    else setLook(graph.look)
  }
  return (
    <div className="flex flex-wrap items-end gap-x-3 gap-y-2 px-4 py-3">
      <SearchBox label={words.memory.search} search={search} className="w-full sm:w-auto sm:min-w-64 sm:flex-1" />
      <Chosen {...{ schema, setLook }} look={graph.look} />
      <AsOf asOf={asOf} setAsOf={setAsOf} />
      {hasPicture && (
        <button type="button" className="button" onClick={() => setList(!isList)}>
          <Icon name={isList ? 'memory' : 'list'} size={18} />
          {isList ? words.memory.asPicture : words.memory.asList}
        </button>
      )}
      {graph.isBusy && (
        <p className="min-h-10 py-2 text-sm text-soft">
          {graph.percent === null ? words.page.loading : words.memory.remaking(graph.percent)}
        </p>
      )}
    </div>
  )
}

function Chosen({ schema, look, setLook }: Pick<Bar, 'schema' | 'setLook'> & { look: Look }) {
  const words = useWords()
  const locale = useLocale()
  const number = (value: number) => value.toLocaleString(locale)
  return (
    <>
      <label className="min-w-40 flex-1 sm:flex-none">
        <span className="sr-only">{words.memory.label}</span>
        <select
          className="field"
          value={look.label}
          onChange={(changed) => setLook({ ...look, label: changed.target.value })}
        >
          <option value="">{words.memory.allLabels(number(schema?.hygiene.nodes ?? 0))}</option>
          {Object.entries(schema?.labels ?? {}).map(([label, count]) => (
            <option key={label} value={label}>
              {label} ({number(count)})
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="sr-only">{words.memory.howMany}</span>
        <select
          className="field"
          value={look.most}
          onChange={(changed) => setLook({ ...look, most: Number(changed.target.value) })}
        >
          {HOW_MANY.map((many) => (
            <option key={many} value={many}>
              {words.memory.upTo(number(many))}
            </option>
          ))}
          <option value={Infinity}>{words.memory.everything}</option>
        </select>
      </label>
    </>
  )
}
