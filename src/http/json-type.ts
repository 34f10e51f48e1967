import { AppError } from '#base/app-error.ts'

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

/** Whether a content type is JSON, or written in it: `application/problem+json`. */
export const isJsonType = (contentType: string): boolean => JSON_TYPE.test(contentType)

export const notJson = (): AppError =>
  new AppError('UnsupportedMediaType', 'Send the body as "content-type: application/json"')
