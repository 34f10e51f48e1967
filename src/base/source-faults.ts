import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Nullable = <Kind extends ReturnType<typeof Type.String | typeof Type.Integer>>(kind: Kind) =>
  Type.Union([kind, Type.Null()])

const SourceFault = Type.Object({
  function: Nullable(Type.String()),
  file: Nullable(Type.String()),
  line: Nullable(Type.Integer()),
  column: Nullable(Type.Integer()),
  message: Type.String(),
  frame: Nullable(Type.String()),
})
const Refusal = Type.Object({ faults: Type.Array(SourceFault) })

/** The faults in code that a refusal names, each with its place and the lines around it; nothing for any other refusal. */
export const sourceFaults = (error: unknown): string[] =>
  Value.Check(Refusal, error) ? error.faults.map((fault) => `\n${faultText(fault)}`) : []

function faultText(fault: Static<typeof SourceFault>): string {
  const { file, line, column, message, frame } = fault
  const name = fault.function === null ? '' : `function "${fault.function}"`
  const place = [file ?? (name === '' ? '' : 'inline code'), line, column].filter(
    (part) => part !== null && part !== '',
  )
  const head = [place.join(':'), name].filter((part) => part !== '').join('  ')
  const lines = frame === null ? [message] : [message, frame]
  return [
    head,
    ...lines
      .join('\n')
      .split('\n')
      .map((text) => `  ${text}`),
  ].join('\n')
}
