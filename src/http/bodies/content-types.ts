import { AppError } from '#base/app-error.ts'

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i
const PLAIN_JSON_TYPE = /^application\/json\s*(?:;|$)/i

/** Whether a content type is JSON, or a format written in it such as `application/problem+json`. */
export const isJsonType = (contentType: string | null): boolean =>
  contentType !== null && JSON_TYPE.test(contentType)

/** Whether it is `application/json`, the only type that is parsed. */
export const isPlainJson = (contentType: string | null): boolean =>
  contentType !== null && PLAIN_JSON_TYPE.test(contentType)

/** The type of a form that a browser sends, when it sends no files. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

export const isForm = (contentType: string | null): boolean =>
  contentType?.split(';')[0]?.trim().toLowerCase() === FORM_TYPE

export const notJson = (): AppError =>
  new AppError('UnsupportedMediaType', 'Send the body as "content-type: application/json"')
