/** Texts by their templates, which are constants: the database knows a statement by its text. */
const TEXTS = new WeakMap<TemplateStringsArray, string>()

/** A statement in text with its parameters, one for each gap of the template. Spread it: `run(...query\`select ${1}\`)`. */
export function query(
  template: TemplateStringsArray,
  ...parameters: readonly unknown[]
): [text: string, parameters: readonly unknown[]] {
  const text =
    TEXTS.get(template) ?? template.reduce((before, after, at) => `${before}$${at}${after}`)
  TEXTS.set(template, text)
  return [text, parameters]
}
