/** Whether the caller reads pages, as browsers do: `Accept` names `text/html` itself, without `q=0` (RFC 9110 §12.5.1). */
export const acceptsHtml = ({ headers }: Request): boolean =>
  (headers.get('accept') ?? '').split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === 'text/html' && !parameters.some((parameter) => REFUSED.test(parameter))
  })

const REFUSED = /^q\s*=\s*0(?:\.0*)?$/
