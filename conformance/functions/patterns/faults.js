export default () =>
  ['(', ':a:a', 'nope'].map((text) => {
    try {
      new URLPattern(text)
      return 'none'
    } catch (e) {
      return e.name
    }
  })
