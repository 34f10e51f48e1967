/** Where the line breaks, to the letter. */
export default async () => {
  const last = 'd'.repeat(20)
  for (let length = 26; length < 33; length++) {
    const first = 'b'.repeat(length)
    const form = new FormData()
    form.append('aaaa', first)
    form.append('cccc', last)
    console.log(new Headers({ aaaa: first, cccc: last }), form)
    console.log({ nested: [new Headers({ aaaa: first })] })
  }
  console.log(new FormData(), [new Headers()], new (class Mine extends Headers {})([['a', '1']]))
  console.log(Deno.inspect(new Headers({ aaaa: last, cccc: last }), { compact: true }))
}
