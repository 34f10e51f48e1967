/** Strangers choose some texts, and no terminal is to act on them: what it would act on is removed, line breaks and tabs stay. */
export const terminalText = (text: string): string =>
  text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, '')

/** JSON of the same value in which a terminal finds nothing to act on either. */
export const terminalJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[\p{Cc}\p{Cf}]/gu, escaped)

/** Bytes as a terminal may show them: as UTF-8, or what is none of it replaced. */
export async function* terminalBytes(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = new TextDecoder()
  for await (const chunk of chunks) {
    yield Buffer.from(terminalText(decoder.decode(chunk, { stream: true })))
  }
  yield Buffer.from(terminalText(decoder.decode()))
}

/** Each UTF-16 unit by itself, as JSON has it. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')
