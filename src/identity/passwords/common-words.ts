/**
 * What people choose most often, bare of the digits and signs that policies make them add: from the tops of published
 * lists of leaked passwords. Lowercase, at least four letters.
 */
export const COMMON_WORDS: ReadonlySet<string> = new Set(
  `aaaa abcd abcde abcdef abcdefg abcdefgh abcabc access account action adam adidas admin admins administrator adobe
alex alexander alexis alice amanda amazon amber america anderson andrea andrew angel angela angels animal anna anthony
antonio apache apple april ares arsenal arthur arturo asdf asdfasdf asdfg asdfgh asdfghj asdfghjk asdfghjkl ashley asshole
athena august austin autumn azerty babe babygirl babyboy bailey banana bandit barbara barcelona barney baseball basketball
batman beaver beer benjamin berlin bigdaddy bigdick bigdog birthday bismillah biteme blah blessed blink blue boomer
booboo boss boston brandon brandy brazil brian britney bubba bubbles bulldog business buster butter butterfly
butthead cameron camaro canada captain carlos carmen carolina casper cassie catalina changeit changeme changethis charlie
charlotte cheese chelsea cherry chester chicago chicken chocolate chris christ christian christine christmas christopher
claudia cocacola coffee company computer connect control cookie cookies cooper copper corona corvette cowboy cowboys
cristina croft crystal daddy daisy dakota dallas daniel daniela danielle database david debbie december default demo denise
dennis deutschland diablo diamond dick dolphin dolphins domino donald dragon dragons eagle eagles eddie edward einstein
elephant elizabeth eminem england enter estrella ethan fabian facebook falcon family february fender fernando ferrari
firebird first fish fishing florida flower flowers football forever france francis francisco frankie freddy freedom friday
friend friends fuck fucker fucking fuckme fuckoff fuckyou fuckthis gandalf garfield gates gateway genesis george gfhjkm
ghost ginger giovanni goldfish golf golfer google gordon grandma green gregory guest guitar gunner hammer hannah happy
harley harry heather heaven hello helloworld helpme henry hockey holiday holland hollywood home honda honey hooters
horse horses hotdog hotmail house howard hunter iloveme iloveu iloveyou iloveyouu india indian indiana infinity initial
instagram internet isabella italia jackass jackson jacob jaguar jake james january jasmine jason jasper jennifer jeremy
jerry jesse jessica jesus jesuschrist jimmy johannes john johnny johnson jonathan jordan jorge jose joseph joshua juan juice
july june junior justin justme karina katie kevin killer king kingdom kitten kitty knight lakers lauren leather legend
legolas letmein letmeinnow liberty lifehack lights lincoln linda linkedin liverpool logan login london looking louis
love lovelove lovely loveme lover loverboy lovers loveyou lucky luis macintosh maddog madison maggie magic manager
manchester marcus maria mariana marie marina marine mario marley marlboro martin martina master matrix matthew maverick
maxwell melissa mercedes merlin metallica mexico michael michelle mickey midnight miguel miller minecraft mine mobile
mohammed monday money monica monkey monster morgan mother motorola mountain muffin murphy mustang mypassword
myspace naruto nascar natalia natalie natasha nathan nathaniel newpass newpassword newyork nicholas nicole nike
ninja nintendo nirvana nissan nokia nothing november ocean october office oliver olivia online orange orlando oscar
pakistan palmer pandora panther panthers paradise paris parker pass passcode passion passpass passw passwd password
passwords passwort patches patricia patrick peaches peanut pepper peter phoenix phpbb picasso picture pikachu player
please pokemon police porsche postgres power presario prince princess princesa private purple pussy qazwsx qazwsxedc
qqqq qwaszx qwer qwert qwerty qwertyu qwertyui qwertyuiop qwertz qweasd qweasdzxc qweqwe rabbit rachel raiders rainbow
ranger rangers raymond rebecca reddog redsox remember richard ricardo robert roberto rocket ronaldo root rosebud rush
russia sabrina sairam samantha samson samsung samuel sandra santiago sarah saturday school scooter scorpio scorpion
sebastian secret secrets security senha september sergey server service setup sexy shadow shannon shelby sierra silver
simple simpson skippy slayer slipknot smokey snoopy snowball soccer sony sophie spain sparky spartan spencer spider
spiderman spring squirt stanley starwars start startrek steelers stella stephanie steven stupid success summer sunday
sunflower sunrise sunshine superman superstar superuser support surfer sweet sweety sydney sysadmin system
target taylor teacher temp temporary tennis test tester testing testtest texas thomas thunder thursday tiffany tiger
tigers tigger time tinkerbell tomcat topgun toyota travis trinity trouble trustno truelove tuesday tweety twitter
undertaker united user valentina vanessa velvet victor victoria vincent viking vikings virginia voyager walter
warcraft warrior wednesday welcome welcomehome whatever william willie wilson windows winner winston winter wizard wolf
wordpress world xavier xbox xxxx yamaha yankee yankees yellow yourname zaqwsx zaqxsw zxcv zxcvb zxcvbn zxcvbnm zzzz`.split(
    /\s+/,
  ),
)
