import { parse as parseArray } from 'postgres-array'

/** What one element is in an array's text, and back. */
interface ElementType {
  readonly parse: (text: string) => unknown
  readonly serialize: (value: unknown) => string
}

interface ArrayType {
  readonly to: number
  readonly from: number[]
  serialize(list: unknown): unknown
  parse(text: string): unknown
}

const TEXT: ElementType = { parse: (text) => text, serialize: String }
const NUMBER: ElementType = { parse: Number, serialize: String }

/**
 * The arrays that statements of ours, and of pg-boss, send and read, by the type ids that Postgres never changes (`pg_type.dat`).
 * The driver would ask each new connection for those of the database: a round trip, and an unhandled rejection when the server
 * ends the connection at that moment.
 */
export function arrayTypes(date: ElementType): Readonly<Record<string, ArrayType>> {
  return {
    booleans: arrayOf(1000, { parse: (text) => text === 't', serialize: String }),
    byteas: arrayOf(1001, {
      parse: (text) => Buffer.from(text.slice('\\x'.length), 'hex'),
      serialize: (bytes) => byteaText(bytes as Uint8Array),
    }),
    smallints: arrayOf(1005, NUMBER),
    integers: arrayOf(1007, NUMBER),
    texts: arrayOf(1009, TEXT),
    varchars: arrayOf(1015, TEXT),
    bigints: arrayOf(1016, TEXT),
    timestamps: arrayOf(1185, date),
    uuids: arrayOf(2951, TEXT),
  }
}

/** A `bytea[]` as a text, for where the driver would take a list of buffers for one buffer. */
export const byteaList = (list: readonly Uint8Array[]): string =>
  `{${list.map((bytes) => `"\\${byteaText(bytes)}"`).join(',')}}`

const byteaText = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  `\\x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`

const arrayOf = (oid: number, { parse, serialize }: ElementType): ArrayType => ({
  to: oid,
  from: [oid],
  // What is text already is an array's text.
  serialize: (list) => (Array.isArray(list) ? textOf(list, serialize) : list),
  parse: (text) => parseArray(text, parse),
})

function textOf(list: readonly unknown[], serialize: (value: unknown) => string): string {
  const elements = list.map((value) => {
    if (value === null || value === undefined) return 'null'
    if (Array.isArray(value)) return textOf(value, serialize)
    return `"${serialize(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  })
  return `{${elements.join(',')}}`
}
