/**
 * A function for the browser, as text, which gives the texts of a page whose contrast with what is behind them is below 4.5 (WCAG 2.2, AA:
 * https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio).
 */
export const poorContrasts = `() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const linear = (one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const ground = channels(getComputedStyle(at).backgroundColor);
      if (ground.length === 3 || ground[3] > 0) return ground;
    }
    return [255, 255, 255];
  };
  const hasText = (node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.nodeValue.trim() !== "");
  return [...document.querySelectorAll("body *")]
    .filter((element) => !(element instanceof SVGElement) && element.tagName !== "NOSCRIPT" && hasText(element))
    .flatMap((element) => {
      const tones = [channels(getComputedStyle(element).color), groundOf(element)].map(luminance);
      const ratio = (Math.max(...tones) + 0.05) / (Math.min(...tones) + 0.05);
      return ratio < 4.5 ? [element.className + " " + element.textContent + " " + ratio.toFixed(2)] : [];
    });
}`;
