export default () => {
  try {
    new TextDecoder('nope')
  } catch (e) {
    return [e.name, e.message]
  }
}
