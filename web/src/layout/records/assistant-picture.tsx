import classes from './assistant-picture.module.css';

type Props = { icon: string | null; name: string; size?: 'small' | 'medium' | 'large' };

/** The picture, emoji or first letter of an assistant; its name is next to it. */
export function AssistantPicture({ icon, name, size = 'small' }: Props) {
  const isPicture = icon?.startsWith('data:') === true;
  return (
    <span className={classes.picture} data-size={size} data-letter={icon === null || undefined} aria-hidden>
      {isPicture ? <img src={icon} alt="" /> : (icon ?? Array.from(name.trim())[0]?.toUpperCase() ?? '?')}
    </span>
  );
}
