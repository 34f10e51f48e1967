import { AppError, invalid } from '#base/app-error.ts'
import { FORM_TYPE, isForm } from '#http/bodies/content-types.ts'
import { readText } from '#http/bodies/read-body.ts'
import { formBody } from '#http/bodies/request-body.ts'

const BODY = formBody()
const MAX_FORM_BYTES = 64 * 1024
const MAX_FIELDS = 50

/** The fields of a form. Refuses a field that comes twice: two readers could each take another value. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  const fields = await readFormFields(request)
  const names = [...fields.keys()]
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw invalid(twice.slice(0, 64), 'is there more than once')
  return fields
}

/** All fields of a form. Refuses another content type (415), more than 64 KiB (413), and more than 50 fields (400). */
export async function readFormFields(request: Request): Promise<URLSearchParams> {
  if (!isForm(request.headers.get('content-type'))) {
    throw new AppError('UnsupportedMediaType', `This route takes a form: send it as "${FORM_TYPE}"`)
  }
  const limit = { limitBytes: MAX_FORM_BYTES, tooLong }
  const fields = new URLSearchParams(await readText(request, BODY, limit))
  if (fields.size > MAX_FIELDS) throw invalid('body', `has more than ${MAX_FIELDS} fields`)
  return fields
}

const tooLong = (): AppError =>
  new AppError('PayloadTooLarge', `A form may have ${MAX_FORM_BYTES} bytes`, {
    fields: { limitBytes: MAX_FORM_BYTES },
  })
