import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { IntlMessageFormat } from 'intl-messageformat'
import { describe, expect, test } from 'vitest'

import { LANGUAGES, type ConsoleLanguage, localeOf } from './languages.ts'
import { formatMessage } from './message.ts'

const SOURCE = join(import.meta.dirname, '..')
/** Folders with a module for each language. */
const FOLDERS = globSync('**/en.ts', { cwd: SOURCE }).map(dirname).toSorted()

type Texts = Readonly<Record<string, string>>
const textsOf = async (folder: string, language: ConsoleLanguage): Promise<Texts> =>
  ((await import(join(SOURCE, folder, `${language}.ts`))) as { readonly TEXTS: Texts }).TEXTS

type Element = ReturnType<IntlMessageFormat['getAst']>[number]
const SELECT = 5
const PLURAL = 6

/** What a text takes: names, and the choices of a select. */
function taken(elements: readonly Element[]): string[] {
  return elements.flatMap((element) => {
    if (element.type === SELECT || element.type === PLURAL) {
      const choices = Object.keys(element.options).toSorted().join('|')
      const inner = Object.values(element.options).flatMap((option) => taken(option.value))
      return [element.value + (element.type === SELECT ? `=${choices}` : ''), ...inner]
    }
    return element.type === 1 ? [element.value] : []
  })
}

const parsed = (text: string, language: ConsoleLanguage) =>
  new IntlMessageFormat(text, localeOf(language))
const signature = (text: string, language: ConsoleLanguage): string =>
  [...new Set(taken(parsed(text, language).getAst()))].toSorted().join()

test('the texts of the shell and of screens are found', () => {
  expect(FOLDERS).toContain('texts')
  expect(FOLDERS).toContain('screens/people/texts')
})

describe.each(FOLDERS)('the texts of %s', (folder) => {
  test.each(LANGUAGES)('are there in %s, with all that the English ones take', async (language) => {
    expect(existsSync(join(SOURCE, folder, `${language}.ts`))).toBe(true)
    const [english, texts] = [await textsOf(folder, 'en'), await textsOf(folder, language)]
    expect(Object.keys(texts)).toEqual(Object.keys(english))
    for (const [key, text] of Object.entries(texts)) {
      expect(signature(text, language), key).toBe(signature(english[key] ?? '', 'en'))
      expect(text, key).not.toMatch(/['"]|^\s|\s$| {2}|\.\.\./)
    }
  })

  test.each(LANGUAGES)('are filled in for %s as MessageFormat fills them in', async (language) => {
    for (const text of Object.values(await textsOf(folder, language))) {
      for (const count of [0, 1, 2, 5, 22, 1234]) {
        const names = taken(parsed(text, language).getAst()).map((name) => name.split('='))
        const values = Object.fromEntries(
          names.map(([name = '', choices]) => [
            name,
            choices?.split('|')[count % 2] ?? (name === 'count' ? count : `<${name}>`),
          ]),
        )
        expect(formatMessage(text, values, language)).toBe(parsed(text, language).format(values))
      }
    }
  })
})

describe('a message', () => {
  test.each([
    ['{count, plural, =0 {none} one {# row} other {# rows}}', { count: 0 }, 'none'],
    ['{count, plural, =0 {none} one {# row} other {# rows}}', { count: 1 }, '1 row'],
    [
      '{count, plural, one {# row} other {# rows}} of {name}',
      { count: 12_345, name: 'x' },
      '12,345 rows of x',
    ],
    ['{role, select, admin {an admin} other {a {role}}}', { role: 'user' }, 'a user'],
    ['{role, select, admin {an admin} other {a {role}}}', { role: 'admin' }, 'an admin'],
    ['# {name}', { name: '{count}' }, '# {count}'],
  ])('%s with %j is %s', (text, values, expected) => {
    expect(formatMessage(text, values, 'en')).toBe(expected)
  })

  test('fails without a value that it takes', () => {
    expect(() => formatMessage('To {name}', {}, 'en')).toThrow('"name"')
  })
})
