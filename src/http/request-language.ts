import Negotiator from 'negotiator'

import type { Language } from '#base/language.ts'
import { DEFAULT_LANGUAGE, firstLanguage, languageOfLocales } from '#languages/language.ts'

/** No browser sends longer lists. */
const MAX_HEADER = 1000

/** The parameter of OpenID Connect, which pages of ours take, too. */
export const UI_LOCALES = 'ui_locales'

/** The language of a response: as the application that sent its user says, and else as their browser does. */
export const languageOf = (request: Request): Language =>
  saidLanguageOf(request) ?? DEFAULT_LANGUAGE

/** Undefined where neither says one that there is: of programs. */
export const saidLanguageOf = (request: Request): Language | undefined =>
  askedLanguageOf(request) ?? firstLanguage(acceptedBy(request))

/** The language that an application or a link of ours asks for. */
export const askedLanguageOf = ({ url }: Request): Language | undefined =>
  languageOfLocales(new URL(url).searchParams.get(UI_LOCALES))

/** RFC 9110 section 12.5.4, best first. */
function acceptedBy({ headers }: Request): readonly string[] {
  const accepted = (headers.get('accept-language') ?? '').slice(0, MAX_HEADER)
  return new Negotiator({ headers: { 'accept-language': accepted } }).languages()
}
