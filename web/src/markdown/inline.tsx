import { FileText } from 'lucide-react';
import type { Token, Tokens } from 'marked';
import { Fragment, type ReactNode, useContext } from 'react';
import { FootnoteMark } from './footnotes-view.tsx';
import { ArtifactLink, CitationLink } from './links/artifact-link.tsx';
import { citedTexts } from './links/citation.ts';
import { FilePathLink } from './links/file-path-link.tsx';
import { safeLink } from './links/links.ts';
import { RemoteImage } from './links/remote-image.tsx';
import { SourceLinks } from './links/source-links.ts';
import { MathView } from './math/math-view.tsx';
import { decodeEntities } from './parser/entities.ts';
import { plainText, runningText } from './parser/running-text.ts';
import { asMarkdownToken, type MarkdownToken } from './parser/tokens.ts';

const maximumDepth = 24;

const lineBreak = /^<br[ \t]*\/?>$/i;

/** The content of a table cell, where a line can be broken only by `<br>`. */
export function cellNodes(tokens: readonly Token[]): ReactNode {
  return tokens.map((token, index) =>
    token.type === 'html' && lineBreak.test(token.raw) ? (
      <br key={index} />
    ) : (
      <Fragment key={index}>{inlineNodes([token])}</Fragment>
    ),
  );
}

/** Inline tokens as React nodes. */
export function inlineNodes(tokens: readonly Token[], depth = 0): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{inlineNode(asMarkdownToken(token), depth)}</Fragment>);
}

function inlineNode(token: MarkdownToken, depth: number): ReactNode {
  if (depth > maximumDepth) return token.raw;
  switch (token.type) {
    case 'text':
      return token.tokens ? inlineNodes(token.tokens, depth + 1) : textNodes(runningText(token.text));
    case 'escape':
      return decodeEntities(token.text);
    case 'strong':
      return <strong>{inlineNodes(token.tokens, depth + 1)}</strong>;
    case 'em':
      return <em>{inlineNodes(token.tokens, depth + 1)}</em>;
    case 'del':
      return <del>{inlineNodes(token.tokens, depth + 1)}</del>;
    case 'codespan':
      return (
        <FilePathLink text={token.text}>
          <code>{token.text}</code>
        </FilePathLink>
      );
    case 'br':
      return <br />;
    case 'link':
      return linkNode(token, depth);
    case 'image':
      return <RemoteImage address={decodeEntities(token.href)} description={plainText(token.tokens)} />;
    case 'math':
      if (!token.isClosed) return token.raw;
      return <MathView formula={token.text} source={token.raw} isDisplay={token.isDisplay} />;
    case 'footnoteReference':
      return <FootnoteMark label={token.label} source={token.raw} />;
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
  if (pieces.length === 1 && typeof pieces[0] === 'string') return numbered(text);
  return pieces.map((piece, index) => (
    <Fragment key={index}>
      {typeof piece === 'string' ? numbered(piece) : <CitationLink name={piece.name} at={piece.at} text={piece.raw} />}
    </Fragment>
  ));
}

function numbered(text: string): ReactNode {
  return /\[\d/.test(text) ? <NumberedText text={text} /> : text;
}

function NumberedText({ text }: { text: string }) {
  return useContext(SourceLinks)?.(text) ?? text;
}

function linkNode(token: Tokens.Link, depth: number): ReactNode {
  const link = safeLink(token.autolink ? token.href : decodeEntities(token.href));
  const content = inlineNodes(token.tokens, depth + 1);
  if (!link) return <FilePathLink text={decodeEntities(token.href)}>{content}</FilePathLink>;
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
