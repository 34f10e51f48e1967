import { describe, expect, test } from 'vitest'

import { languageOf } from './request-language.ts'

const asked = (uiLocales: string | undefined, accepted: string | undefined): Request => {
  const url = new URL('https://site.test/oidc/visitors/login')
  if (uiLocales !== undefined) url.searchParams.set('ui_locales', uiLocales)
  return new Request(String(url), {
    headers: accepted === undefined ? {} : { 'accept-language': accepted },
  })
}

describe('the language of the reader of a response', () => {
  test.each([
    ['of the application that sent them', 'fr', 'de', 'fr'],
    ['the first that there is of those it lists', 'nl da-DK pl de', 'fr', 'pl'],
    ['of their country', 'pt-BR', undefined, 'pt'],
    ['whatever its case is', 'JA-jp', undefined, 'ja'],
    ['of their browser', undefined, 'it-IT,it;q=0.9,en;q=0.8', 'it'],
    ['of their browser, where the application knows none of ours', 'nl', 'es', 'es'],
    ['the one that their browser likes best', undefined, 'en;q=0.5, de;q=0.8, fr;q=0.3', 'de'],
    ['none that their browser refuses', undefined, 'de;q=0, pl;q=0.1', 'pl'],
    ['English for others', undefined, 'nl-NL, *', 'en'],
    ['English without a preference', undefined, undefined, 'en'],
    ['English for empty ones', '', '', 'en'],
    ['English for what is no language', '../../de <de> d', ';q=1,,;;q', 'en'],
    ['English after too many others', `${'nl '.repeat(300)}de`, `${'nl,'.repeat(500)}de`, 'en'],
  ])('is that %s', (_what, uiLocales, accepted, language) => {
    expect(languageOf(asked(uiLocales, accepted))).toBe(language)
  })
})
