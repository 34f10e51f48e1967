import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { IntlMessageFormat } from 'intl-messageformat'
import { describe, expect, test } from 'vitest'

import { LANGUAGES, type Language } from '#base/language.ts'

import { CATALOGUES, TEXT_KEYS as KEYS, type TextKey } from './catalogues.ts'
import { localeOf } from './language.ts'

const OTHERS = LANGUAGES.filter((language) => language !== 'en')

type Element = ReturnType<IntlMessageFormat['getAst']>[number]

const read = (language: Language, key: TextKey): Element[] =>
  new IntlMessageFormat(CATALOGUES[language][key], localeOf(language)).getAst()

/** The kinds of the parser's elements that are of interest here. */
const SELECT = 5
const PLURAL = 6
const TAG = 8

/** `email`, `b:place`, `role=admin|other|super`: what a text takes, however often it does. */
function taken(elements: readonly Element[], within = ''): string[] {
  return elements.flatMap((element) => {
    if (element.type === TAG) return taken(element.children, `${element.value}:`)
    if (element.type === SELECT || element.type === PLURAL) {
      const inner = Object.values(element.options).flatMap((option) => taken(option.value, within))
      const choices = Object.keys(element.options).toSorted().join('|')
      return [`${within}${element.value}${element.type === SELECT ? `=${choices}` : ''}`, ...inner]
    }
    return element.type === 1 ? [`${within}${element.value}`] : []
  })
}

const signature = (language: Language, key: TextKey): string[] =>
  [...new Set(taken(read(language, key)))].toSorted()

function pluralsOf(elements: readonly Element[]): string[][] {
  return elements.flatMap((element) => {
    if (element.type === TAG) return pluralsOf(element.children)
    if (element.type !== SELECT && element.type !== PLURAL) return []
    const inner = Object.values(element.options).flatMap((option) => pluralsOf(option.value))
    const choices = Object.keys(element.options).filter((choice) => !choice.startsWith('='))
    return element.type === PLURAL ? [choices.toSorted(), ...inner] : inner
  })
}

/** Words that are the same in both languages. */
const SAME: Readonly<Partial<Record<Language, readonly TextKey[]>>> = {
  de: ['field.code', 'field.name', 'account.passkeys'],
  fr: ['field.code', 'page.administration'],
  es: ['page.error'],
  it: ['field.password'],
}

describe.each(OTHERS)('the catalogue of %s', (language) => {
  test('has the texts of the English one, in its order, and no others', () => {
    expect(Object.keys(CATALOGUES[language])).toEqual(KEYS)
  })

  test('takes in each text what the English one takes', () => {
    const differing = KEYS.filter(
      (key) => signature(language, key).join() !== signature('en', key).join(),
    )
    expect(differing).toEqual([])
  })

  test('has left no text in English', () => {
    const same = KEYS.filter(
      (key) => CATALOGUES[language][key] === CATALOGUES.en[key] && /\p{L}{3}/u.test(readable(key)),
    )
    expect(same.toSorted()).toEqual((SAME[language] ?? []).toSorted())
  })

  test('has all plurals of its language', () => {
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted()
    const incomplete = KEYS.filter((key) =>
      pluralsOf(read(language, key)).some((choices) => choices.join() !== categories.join()),
    )
    expect(incomplete).toEqual([])
  })

  test('ends its sentences where the English one does', () => {
    const differing = KEYS.filter(
      (key) => isSentence(CATALOGUES[language][key]) !== isSentence(CATALOGUES.en[key]),
    )
    expect(differing).toEqual([])
  })
})

/** What stays of a text without what is put into it. */
const readable = (key: TextKey): string => CATALOGUES.en[key].replaceAll(/\{\w+\}|<\/?b>/g, '')

const isSentence = (text: string): boolean => /[.。]$/.test(text)

test.each(LANGUAGES)('the texts of %s are written as print is', (language) => {
  // An apostrophe of ASCII would start a quotation of MessageFormat.
  const careless = KEYS.filter((key) => /['"]|^\s|\s$| {2}|\.\.\./.test(CATALOGUES[language][key]))
  expect(careless).toEqual([])
})

describe('every text of the catalogues', () => {
  test('is said somewhere', () => {
    const source = sourceOf(join(import.meta.dirname, '..'))
    const unsaid = KEYS.filter((key) => {
      const [mail, kind, part] = key.split('.')
      const isMail = mail === 'mail' && (part === 'subject' || part === 'heading')
      return !source.includes(isMail ? `'mail.${kind}.text'` : `'${key}'`)
    })
    expect(unsaid).toEqual([])
  })
})

const sourceOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n')
