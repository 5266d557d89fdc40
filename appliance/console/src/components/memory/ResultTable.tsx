// What a statement answered, row by row; long values are cut, and whole when opened.
import type { Json } from '../../socket/requests'
import { titleOf, type GraphNode } from '../../hooks/graph'
import type { Records } from '../../hooks/useGraph'
import { useWords } from '../../hooks/useWords'
import { asText } from './NodeDetails'

const LONGEST_CELL = 120 // characters
const LONGEST_WHOLE = 20_000 // characters

export function ResultTable({ answer: { records, truncated } }: { answer: Records }) {
  const words = useWords()
  const columns = [...new Set(records.flatMap((record) => Object.keys(record)))]
  const left = typeof truncated === 'number' ? words.memory.rowsLeft(truncated) : truncated
  return (
    <section aria-label={words.memory.result} className="space-y-2">
      <p role="status" className="text-sm text-soft">
        {words.memory.rows(records.length)}
        {left && <span className="text-warning"> · {left}</span>}
      </p>
      {records.length > 0 && (
        <div tabIndex={0} role="region" aria-label={words.memory.result} className="card max-h-[60vh] overflow-auto">
          <table className="w-full border-collapse text-left text-sm">
            <thead className="sticky top-0 bg-raised">
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col" className="px-3 py-2 font-mono text-xs font-semibold text-soft">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {records.map((record, index) => (
                <tr key={index}>
                  {columns.map((column) => (
                    <td key={column} className="max-w-96 px-3 py-2 align-top">
                      <Value value={record[column] ?? null} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function Value({ value }: { value: Json }) {
  const short = shortOf(value)
  const isWhole = value === null || (typeof value !== 'object' && short.length <= LONGEST_CELL)
  if (isWhole)
    return (
      <span dir="auto" className="break-words">
        {short}
      </span>
    )
  const cut = short.length > LONGEST_CELL ? `${short.slice(0, LONGEST_CELL)}…` : short
  return (
    <details>
      <summary dir="auto" className="break-words">
        {cut}
      </summary>
      <pre className="mt-1 max-h-72 overflow-auto whitespace-pre-wrap break-words rounded-lg bg-raised p-2 font-mono text-xs">
        {JSON.stringify(value, null, 2).slice(0, LONGEST_WHOLE)}
      </pre>
    </details>
  )
}

/** A node by its label and title, a relationship by its type, anything else as text; no more of it than is shown. */
function shortOf(value: Json): string {
  if (Array.isArray(value)) return `[${value.length}] ${value.slice(0, 4).map(shortOf).join(', ')}`
  if (value && typeof value === 'object') {
    const { labels, properties, type, start } = value
    if (Array.isArray(labels) && properties) {
      const node: GraphNode = { id: '', labels: labels.map(String), properties: properties as Record<string, Json> }
      return `(${node.labels.map((label) => `:${label}`).join('')} ${titleOf(node)})`
    }
    if (typeof type === 'string' && start !== undefined) return `[:${type}]`
  }
  return asText(value)
}
