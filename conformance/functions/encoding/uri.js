export default async () => {
  return [encodeURIComponent('é &'), decodeURI('%C3%A9'), escape('é')]
}
