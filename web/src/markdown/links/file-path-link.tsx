import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useContext } from 'react';
import { homePath } from '../../conversation/workspace-paths.ts';
import { FilePaths } from './file-paths.ts';

/** Text that names a file of the workspace: a link that opens it beside the conversation. Otherwise only the content. */
export function FilePathLink({ text, children }: { text: string; children: ReactNode }) {
  const known = useContext(FilePaths);
  const { chatId } = useParams({ strict: false });
  // Models add lines and columns, as compilers do.
  const path = known.size === 0 ? undefined : homePath(text.replace(/:\d{1,7}(?:[:-]\d{1,7})?$/, ''));
  if (chatId === undefined || path === undefined || !known.has(path)) return children;
  return (
    <Link to="/c/$chatId" params={{ chatId }} search={{ panel: 'workspace', path }}>
      {children}
    </Link>
  );
}
