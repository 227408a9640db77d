import { FileText } from 'lucide-react';
import type { MarkedToken, Token, Tokens } from 'marked';
import { Fragment, type ReactNode } from 'react';
import { ArtifactLink, CitationLink } from './artifact-link.tsx';
import { citedTexts } from './citation.ts';
import { decodeEntities } from './entities.ts';
import { safeLink } from './links.ts';
import type { MathToken } from './math/math-syntax.ts';
import { MathView } from './math/math-view.tsx';
import { RemoteImage } from './remote-image.tsx';

const maximumDepth = 24;

/** Inline tokens as React nodes. */
export function inlineNodes(tokens: readonly Token[], depth = 0): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{inlineNode(asMarkedToken(token), depth)}</Fragment>);
}

function inlineNode(token: MarkedToken | MathToken, depth: number): ReactNode {
  if (depth > maximumDepth) return token.raw;
  switch (token.type) {
    case 'text':
      return token.tokens ? inlineNodes(token.tokens, depth + 1) : textNodes(decodeEntities(token.text));
    case 'escape':
      return decodeEntities(token.text);
    case 'strong':
      return <strong>{inlineNodes(token.tokens, depth + 1)}</strong>;
    case 'em':
      return <em>{inlineNodes(token.tokens, depth + 1)}</em>;
    case 'del':
      return <del>{inlineNodes(token.tokens, depth + 1)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return linkNode(token, depth);
    case 'image':
      return <RemoteImage address={decodeEntities(token.href)} description={decodeEntities(token.text)} />;
    case 'math':
      if (!token.isClosed) return token.raw;
      return <MathView formula={token.text} source={token.raw} isDisplay={token.isDisplay} />;
    case 'html':
      return token.text;
    case 'checkbox':
      return null;
    default:
      return token.raw;
  }
}

function textNodes(text: string): ReactNode {
  const pieces = citedTexts(text);
  if (pieces.length === 1 && typeof pieces[0] === 'string') return text;
  return pieces.map((piece, index) => (
    <Fragment key={index}>
      {typeof piece === 'string' ? piece : <CitationLink name={piece.name} at={piece.at} text={piece.raw} />}
    </Fragment>
  ));
}

function linkNode(token: Tokens.Link, depth: number): ReactNode {
  const link = safeLink(token.autolink ? token.href : decodeEntities(token.href));
  const content = inlineNodes(token.tokens, depth + 1);
  if (!link) return content;
  if (link.kind === 'artifact') {
    return (
      <ArtifactLink id={link.id}>
        <FileText size={14} aria-hidden />
        {content}
      </ArtifactLink>
    );
  }
  return (
    <a href={link.href} target="_blank" rel="noopener noreferrer nofollow" title={link.href}>
      {content}
    </a>
  );
}

/** All possible tokens: marked's own and formulas. */
export function asMarkedToken(token: Token): MarkedToken | MathToken {
  return token as MarkedToken | MathToken;
}
