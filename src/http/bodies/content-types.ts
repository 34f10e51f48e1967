import { AppError } from '#base/app-error.ts'

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i
/** JSON is sent in UTF-8 (RFC 8259, section 8.1); ASCII is a part of it. */
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?(?:utf-?8|us-ascii)"?\s*(?:;|$))/i

/** Whether a content type is JSON, or a format written in it such as `application/problem+json`. */
export const isJsonType = (contentType: string | null): boolean =>
  contentType === 'application/json' ||
  (contentType !== null && JSON_TYPE.test(contentType) && !OTHER_CHARSET.test(contentType))

/** The type of a form that a browser sends, when it sends no files. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

export const isForm = (contentType: string | null): boolean =>
  contentType?.split(';')[0]?.trim().toLowerCase() === FORM_TYPE

export const notJson = (): AppError =>
  new AppError(
    'UnsupportedMediaType',
    'Send the body as JSON in UTF-8, with "content-type: application/json"',
  )
