import type { XmlAttributes } from './xml.ts';

/** A small part of an XML file as a tree, built from its events. */
export type XmlNode = { name: string; attributes: XmlAttributes; children: (XmlNode | string)[] };

export class TreeBuilder {
  readonly root: XmlNode;
  readonly #path: XmlNode[];

  constructor(name: string, attributes: XmlAttributes) {
    this.root = { name, attributes, children: [] };
    this.#path = [this.root];
  }

  open(name: string, attributes: XmlAttributes): void {
    const node: XmlNode = { name, attributes, children: [] };
    this.#path.at(-1)?.children.push(node);
    this.#path.push(node);
  }

  /** True when the root has been closed. */
  close(): boolean {
    this.#path.pop();
    return this.#path.length === 0;
  }

  text(text: string): void {
    this.#path.at(-1)?.children.push(text);
  }
}

export function childrenOf(node: XmlNode | undefined, name?: string): XmlNode[] {
  const nodes = (node?.children ?? []).filter((child): child is XmlNode => typeof child !== 'string');
  return name === undefined ? nodes : nodes.filter((child) => child.name === name);
}

export function childOf(node: XmlNode | undefined, name: string): XmlNode | undefined {
  return childrenOf(node, name)[0];
}

export function wordsOf(node: XmlNode | undefined): string {
  return (node?.children ?? []).map((child) => (typeof child === 'string' ? child : wordsOf(child))).join('');
}
