/** Elements by function calls. Texts are only ever set as texts: what comes from a pipeline can be no markup. */
type Child = Node | string | number | null | undefined | false;
type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  for (const child of children)
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
  return element;
}

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
) {
  return fill(document.createElement(tag), attributes, children);
}

export function s<Tag extends keyof SVGElementTagNameMap>(tag: Tag, attributes: Attributes = {}, ...children: Child[]) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Text of ours in which commands stand in backquotes. */
export function prose(text: string): HTMLElement {
  const parts = text.split(/`([^`\n]+)`/);
  return h("span", {}, ...parts.map((part, index) => (index % 2 === 1 ? h("code", {}, part) : part)));
}

export function byId(id: string): HTMLElement {
  return document.getElementById(id)!;
}

/** Shows these children. What is there and the same stays, with its focus, its selection and its listeners. */
export function show(parent: Element, ...children: Child[]): void {
  patchChildren(parent, fill(document.createElement("div"), {}, children));
}

/** Rows of a table are the same if they are about the same thing, wherever they stand. */
const keyOf = (node: Node | null): string | null =>
  node instanceof Element && node.nodeName === "TR" ? node.getAttribute("data-epoch") : null;

function patchChildren(parent: Element, wanted: Element): void {
  const keyed = new Map(
    [...parent.children].flatMap((child) => (keyOf(child) === null ? [] : [[keyOf(child)!, child]])),
  );
  let cursor: ChildNode | null = parent.firstChild;
  for (const child of [...wanted.childNodes]) {
    const key = keyOf(child);
    const match: ChildNode | undefined =
      key !== null
        ? keyed.get(key)
        : cursor !== null && keyOf(cursor) === null && cursor.nodeName === child.nodeName
          ? cursor
          : undefined;
    if (match === undefined) parent.insertBefore(child, cursor);
    else {
      if (match === cursor) cursor = cursor.nextSibling;
      else parent.insertBefore(match, cursor);
      patch(match, child);
    }
  }
  while (cursor !== null) {
    const next: ChildNode | null = cursor.nextSibling;
    cursor.remove();
    cursor = next;
  }
}

function patch(node: ChildNode, wanted: ChildNode): void {
  if (!(node instanceof Element) || !(wanted instanceof Element)) {
    if (node.nodeValue !== wanted.nodeValue) node.nodeValue = wanted.nodeValue;
    return;
  }
  for (const { name } of [...node.attributes]) if (!wanted.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of [...wanted.attributes])
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  patchChildren(node, wanted);
}

export function button(label: string, attributes: Attributes, onClick: () => void): HTMLButtonElement {
  const element = h("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", onClick);
  return element;
}
