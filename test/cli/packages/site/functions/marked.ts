import { Marked } from 'marked'

const marked = new Marked({ gfm: true })

export default ({ payload }: { payload: { text: string } }) => ({
  html: marked.parse(payload.text),
})
