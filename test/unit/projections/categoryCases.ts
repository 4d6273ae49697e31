/** Names in the shape of real ones; titles and groups of people are made up. By leaf, one a line. */
export const BY_NAME: Readonly<Record<string, string>> = {
  '1010 NDS': `Little_Garden_EUR_NDS-GRP
    Puzzle.Pond.Nintendo.DS-GRP`,
  '1020 PSP': `Adventures To Come EUR PSP-GRP
    Racer.Deluxe.USA.PSP-GRP`,
  '1030 Wii': `Coco_Magic_Carnival_PAL_Wii-AB
    Rooms.The.Big.Building.USA.WII-GRP`,
  '1040 XBox': 'Old.Racer.PAL.XBOX-GRP',
  '1050 XBox 360': `Grand.Truck.Race.V.XBOX360-GRP
    Justice.Ultimate.Edition.X360-GRP`,
  '1060 Wiiware': 'Tiny_Jumper_USA_WiiWare-GRP',
  '1070 XBox 360 DLC': 'Rock.Hall.Pearl.Set.Ten.DLC.XBOX360-GRP',
  '1080 PS3': 'Desert.Run.EUR.PS3-GRP',
  '1090 Other': `Meadow.Tactics.NSW-GRP
    Meadow.Tactics.Update.v1.2.0.NSW-GRP
    Harbor.Story.PS5-GRP
    Harbor.Story.Season.1.Pass.PS5-GRP
    Old.Quest.NTSC.PS2-GRP`,
  '1110 3DS': 'Forest.Friends.EUR.3DS-GRP',
  '1120 PS Vita': 'River.Tales.PSV-GRP',
  '1130 WiiU': 'Paint.Party.USA.WiiU-GRP',
  '1140 XBox One': 'Night.Drive.XBOXONE-GRP',
  '1180 PS4': `Night.Drive.PS4-GRP
    UFC.5.PS4-GRP`,

  '2010 Foreign': `Die.Nacht.Der.Bruecken.THEATRICAL.GERMAN.1986.720p.BluRay.x264-GRP
    Monte.Hill.GERMAN.2002.AC3.DVDRiP.XviD.iNTERNAL-GRP
    La.Colline.2019.FRENCH.1080p.WEB.H264-GRP
    Stille.Wasser.2021.German.DL.1080p.WEB.x264-GRP
    Double.Bridge.1997.German.DL.DVDRip
    La.Strada.Lunga.2015.iTALiAN.1080p.BluRay.x264-GRP
    Пример.Файла.2009.DVDRip`,
  '2020 Other': 'The.Long.Field.2011.mkv',
  '2030 SD': `Abc.Hero.3.2013.R5.DVDRip.XviD-GRP
    The.Drafts.Contract.1982.576p.BluRay.DD2.0.x264-GRP
    Sample.Title.1999.BRRip.XviD.MP3-GRP
    Green.River.2012.BDRip.x264-GRP
    Green.River.2023.WEB.h264-GRP
    Early.Look.2020.CAM-GRP`,
  '2040 HD': `Goddess.Hill.2013.720p.BDRip.x264.AC3-GRP
    Fields.of.Rye.1999.1080p.BluRay.x264.DTS-GRP
    Fields.of.Rye.1999.BluRay.x264-GRP
    Fields of Rye (1999) 1080p`,
  '2045 UHD': `Fields.of.Rye.1999.2160p.WEB-DL.DV.H265-GRP
    Fields.of.Rye.1999.COMPLETE.UHD.BLURAY-GRP
    Fields.of.Rye.1999.2160p.UHD.BluRay.REMUX.HEVC-GRP`,
  '2050 BluRay': `One.Man.The.Final.Race.2013.COMPLETE.BluRay-GRP
    The Field Beyond the Hills 2012 1080p US Blu-ray AVC DTS-HD MA 5.1-GRP
    Lapis: Castle in the Cloud (1986) AVC 1080p BD50
    Quiet.Lake.2004.1080p.BluRay.REMUX.AVC.DTS-HD-GRP`,
  '2060 3D': `Deep.Sea.2013.3D.1080p.BluRay.Half-SBS.x264-GRP
    Deep.Sea.2013.3D.HOU.1080p-GRP`,
  '2070 DVD': `Hans.And.Greta.2005.NTSC.DVDR-GRP
    Hans.And.Greta.Bird.Watchers.DVDR-GRP
    Li.Fan.1973.DVD9.untouched
    Li.Fan.1973.PAL.DVD5-GRP`,
  '2080 WEB-DL': `Paper.Boats.2022.1080p.WEB-DL.DDP5.1.H.264-GRP
    Paper.Boats.2022.720p.WEBRip.x264-GRP
    Paper.Boats.2022.1080p.WEB.h264-GRP
    Paper.Boats.2022.1080p.WEB-DL.x265-GRP`,
  '2090 x265': `Paper.Boats.2012.1080p.BluRay.x265-GRP
    Paper.Boats.2012.720p.BluRay.HEVC-GRP`,

  '3010 MP3': `Quiet_Band-Paper_Moons-WEB-2013-GRP
    All_Will_Perish-City_QUE_0628-2007-GRP
    VA-I_Love_Yoga_Vol.1-WEB-2012-GRP
    Flori_Arn-Trix-(GRP36)-WEB-2012-GRP
    Artist-Title-WEB-2024-GRP
    Artist-Title_(Remix)-CDM-DE-1999-GRP
    100 Best Tune Wonders 80s[mp3]
    Fire.Lotus-Do.Not.Lay.Waste.To.Gardens.WEB-DL.MP3.VBR.V0.2012
    Dj_Lantern-Night_Drive-SAT-05-12-2014-GRP
    Some Singer - A Record (2005) 320kbps`,
  '3020 Video': `Quiet_Band-Paper_Moons-1080p-x264-2013-GRP
    Quiet_Band-Paper_Moons-DDC-2013-GRP
    Quiet.Band.Live.In.Town.2010.1080p.MBluRay.x264-GRP
    Quiet.Band.Live.In.Town.NTSC.MDVDR-GRP`,
  '3030 Audiobook': `Seizing the Machine - Some Name (Unabridged)(NMR)
    Drake Second Generation - Dragons of Autumn Flame (NMR 32 kbps)
    Some Author - The Lighthouse [Audiobook]
    Some.Author-The.Lighthouse.AUDiOBOOK.MP3-GRP
    Eine Autorin - Das Haus - Hörbuch
    Some Author - The Lighthouse (2012) M4B`,
  '3040 Lossless': `Kezia_Joness-Familiarize-PROMO_CDS-FLAC-2003-GRP
    Tenn-Tokin-JP-CD-FLAC-2011-GRP
    Quiet Band - Paper Moons (2013) [24bit-96kHz]
    Rush Hour - Sector One 24-96
    Quiet Band - Paper Moons SACD
    Singer - Sing me (2012 Bluray Audio)`,
  '3050 Other': `Some Singer - A Record (2005) [AAC 256]
    Some Singer - Rock 'N Jazz (Official Audio)
    Some Singer - Discography 1990-2004`,

  '4010 0day': `ArcWeb.TotalPlay.Theatre.v5.0.1.87-GRP
    MagicNote.Score.v7.084-GRP
    Winplay.Pro.v5.70.3392.Incl.Tool-GRP
    Winplay.Pro.v5.7.Incl.Keygen-GRP
    softWare.Suite.2.0.0.25.x32-GRP
    Ledger.Office.2024.Multilingual.x64-GRP
    Course.com.Pro.Audio8.101.Core.Pro.Audio8.TUTORiAL-GRP
    Udemy.Learn.To.Draw.2023.1080p.BOOKWARE-GRP
    tern-kernel-6.18.14-modules-amd64
    Linux.Kernel.Collection`,
  '4020 ISO': `demo-linux-12.04-desktop-i386
    meadow-linux-12.4-amd64-netinst
    ubuntu-24.04.1-live-server-amd64
    debian-12.5.0-arm64-DVD-1
    tundra-linux-9.0-x86_64-boot
    openbsd-7.4-install-image
    Drawing.Suite.2020.ISO-GRP`,
  '4030 Mac': `Drawing.Suite.2020.v4.1.MacOSX.Incl.Keygen-GRP
    Note.Writer.3.2.macOS
    Photo.Tool.2.1.Mac.OS.X-GRP`,
  '4040 Mobile-Other': `City.Guide.v2.1.Symbian-GRP
    TomTom.Maps.Europe.v905-GRP`,
  '4050 Games': `Hunters.Creed.3.UPDATE 1.01.READNFO-GRP
    Meadow.Tactics.v1.2.GOG-GRP
    Meadow.Tactics.Update.v1.0.3-GRP
    Meadow.Tactics.Winter.DLC-GRP
    NBA.2K24-GRP
    Meadow.Tactics.MULTi12-GRP`,
  '4060 Mobile-iOS': 'Garden.Planner.v2.1.iPhone.iOS-GRP',
  '4070 Mobile-Android': `Garden.Planner.v2.1.Android-GRP
    Garden.Planner.4.2.apk`,

  '5010 WEB-DL': `Gardens.and.Parks.S01E01.720p.WEB-DL.DD5.1.H.264-GRP
    Tidal.Garden.S02E03.1080p.WEB.h264-GRP
    Trek.Demo.S03E02.Part.Two.REPACK.1080p.AMZN.WEB-DL.DDP5.1.H.264-GRP
    Showy.S04E04.720p.AMZN.WEBRip.x264-GRP
    Any.Tale.S01E01.Pilot.1080p.DSNP.WEBRip.DDP.5.1.H.265-GRP
    Birds.and.Trees.S02E04.Snow.in.the.Valley.1080p.NF.WEB-DL.DD+5.1.Atmos.HDR.HEVC-GRP
    The.Late.Desk.2024.03.14.Some.Guest.1080p.WEB.h264-GRP
    Harbor.Lights.S03.1080p.WEB-DL.DDP5.1.H.264-GRP`,
  '5020 Foreign': `Am.Fluss.S01E04.German.DL.720p.HDTV.x264-GRP
    Am.Fluss.S01E04.GERMAN.WEB.h264-GRP
    Le.Quai.S02E01.FRENCH.720p.WEB.H264-GRP
    De.Haven.S01E01.DUTCH.1080p.WEB.h264-GRP`,
  '5030 SD': `Harbor.Lights.S01E05.DVDRip.XviD-GRP
    Jon.And.Ken.At.Ten.S02E14.PDTV.x264-GRP
    u.s.farm.wars.s02e06.hdtv.x264-grp
    Tidal.Garden.S02E03.WEB.h264-GRP
    Top_Wheels.20x04.HDTV_x264-GRP
    The.Village.Secret.E08.151029.HDTV.XviD-GRP
    The.Late.Desk.2013.12.30.HDTV.x264-GRP
    The.Late.Desk.2024.03.14.Some.Guest.WEB-GRP
    'Z-Files' Season 5 XviD
    Samplef-_S03E11-12_-blabla_+_blabla_WEBDL-480p`,
  '5040 HD': `Being.Riverside.S01.720p.HDTV.x264-GRP
    Dragon.Hill.S03E24.1080p.WS.BluRay.x264-GRP
    homestead.s02e12.1080p.bluray-abc
    Harbor.Lights.S02E01.REPACK.1080p.BluRay.REMUX.VC-1.DD5.1-GRP
    Folded.Title.S01E02.720p
    NATURE S43E02 Arctic Lost Ship 1080i HDTV DD2.0 MPEG2-GRP
    David.Natural.Curiosity.2013.5of5.Seeing.the.Pattern.720p.HDTV.x264.AAC-GRP
    Harbor.Lights.S01-S05.720p.BluRay.x264-GRP
    Samurai Band: Season 2 (2010) AVC 1080p BD50+BD25 - Disc 1 of 2`,
  '5045 UHD': `Tidal.Garden.S02E03.2160p.WEB.h265-GRP
    Tidal.Garden.S02.2160p.UHD.BluRay.x265-GRP`,
  '5050 Other': `Charlie.S02E01.Charlie.Versus.the.First.Day
    Fir.Alpha.S01
    Café.Nord.S01E02
    Builders.S08E23-E24.The.One.Where.It.works
    cbc - xyz - s6e07
    Samurai Band Staffel 3`,
  '5060 Sport': `Formula1.2024.Round05.Monaco.Race.1080p.WEB.h264-GRP
    UFC.300.Prelims.720p.WEB.h264-GRP
    WWE.Friday.Show.2024.02.02.1080p.WEB.h264-GRP
    NFL.2023.10.01.Lions.vs.Bears.720p.HDTV.x264-GRP
    Premier.League.2024.01.20.Town.vs.City.1080p.HDTV.H264-GRP
    MotoGP.2023.Round.07.Race.HDTV.x264-GRP
    Tour.de.France.2023.Stage.3.720p.HDTV.x264-GRP`,
  '5070 Anime': `[SubsGroup].Some.clip.name.-.20.(1080p).[64032D14]
    [Early-raws] Storm 3 - 01 [1080p]
    [AB-CDE] School AxB CorD - 02 [BD][1080p-Hi10p][FLAC][Dual-Audio][442E5447]
    [字幕组] 某某动画 - 07 (1080p)
    [Subs] Long Title Here - 112v2 [720p].mkv
    [Subs] The Movie of Storm (BD 1080p) [AABBCCDD].mkv
    Gris - Ghost Clock - 06 (480p) [A893408F].mkv`,
  '5080 Documentary': `The.Space.Run.Documentary.S01E02.720p.HDTV.x264-GRP
    BBC.Horizon.2012.The.Deep.Sea.720p.HDTV.x264-GRP
    Nat.Geo.Rivers.of.Ice.S01E01.1080p.WEB.h264-GRP`,
  '5090 x265': `Dragon.Hill.S03E24.1080p.BluRay.x265-GRP
    Dragon.Hill.S03.720p.BluRay.HEVC-GRP`,

  '6010 DVD': `Busy.Gardeners.3.XXX.2010.NTSC.DVDR-GRP
    Busy.Gardeners.3.XXX.DVDRip-GRP`,
  '6020 WMV': 'Busy.Gardeners.XXX.WMV-GRP',
  '6030 XviD': 'Busy.Gardeners.3.XXX.DVDRip.XviD-GRP',
  '6040 x264': `SomeSite.24.01.02.Some.Name.XXX.1080p.MP4-GRP
    Busy.Gardeners.4.XXX.720p.WEB.x264-GRP
    Busy.Gardeners.4.XXX.MP4-GRP`,
  '6045 UHD': 'SomeSite.24.01.02.Some.Name.XXX.2160p.MP4-GRP',
  '6050 Pack': `SomeSite.MegaPack.XXX.1080p.MP4-GRP
    SomeSite.XXX.SiteRip`,
  '6060 ImageSet': 'SomeSite.24.01.02.Some.Name.XXX.iMAGESET-GRP',
  '6070 Other': 'Some Porn Title',
  '6080 SD': 'SomeSite.24.01.02.Some.Name.XXX.480p.MP4-GRP',
  '6090 WEB-DL': 'Busy.Gardeners.5.XXX.1080p.WEB-DL.H264-GRP',

  '7010 Mags': `Some_Weekly_New_Place_-_Issue_45_April_27_2026
    garden.landscape.design.issue.2.2026
    Top.Wheel.South.Land-February.2014
    Some Daily - 12 March 2019
    Garden Magazine - Autumn 2018
    Some.Weekly.Issue.12.2019.RETAiL.PDF-GRP`,
  '7020 EBook': `AB&C - [Tomes] - The Staff of Seven Parts - Some Author (mobi)
    13_X_Demo_Tracts_EBook
    Some Writer - How Anyone Could Have Won The Game (epub)
    Some.Writer.The.Garden.2019.RETAiL.ePub.eBook-GRP
    Some Writer - Collected Works [azw3]
    open-handbook-of-plants-2nd-edition`,
  '7030 Comics': `Night Heron 012 (2013) (digital)
    Night Heron 013 (of 24) (2014) (Digital)
    Night.Heron.Vol.3.CBR
    Night Heron #4 cbz
    Some.Manga.v12.PDF`,
  '7040 Technical': `Learning.Python.5th.Edition.2013.RETAiL.ePub-GRP
    Anatomic Basis of Demo Diagnosis - epub
    Linux.Network.Handbook.2020.pdf`,
  '7060 Foreign': `Eine.Autorin.Das.Haus.German.Retail.eBook.ePub-GRP
    Auteur.La.Maison.FRENCH.ePub-GRP`,

  '8010 Misc': `Garden Talk
    Random.Standalone.File
    The Cabin (1978)
    Resume Tools 2011
    blah blah music-demo-three
    Great stuff
    “Smart quotes” — a demo
    another test post
    ...
    2024`,
  '8020 Hashed': `810b284e98eaf57f6a531cd96db48847
    3F2504E0A1B2C3D4E5F60718
    3f2504e0-4f89-11d3-9a0c-0305e82c3301
    Zk3PqT8vLmN0xYbCdEfGhIjKlMnOpQrStUvWxYz012345`,
};

/** What a rule that looks at one word alone gets wrong. */
export const TRAPS: readonly (readonly [name: string, leaf: number, why: string])[] = [
  ['Counting.To.2049.2017.1080p.BluRay.x264-GRP', 2040, 'a year in the title is no episode'],
  ['1917.Remembered.2019.1080p.BluRay.x264-GRP', 2040, 'a title may begin with a year'],
  ['Tw3lve.2012.720p.BluRay.x264-GRP', 2040, 'digits in a word are no season'],
  ['Show.2012.S01E01.720p.HDTV.x264-GRP', 5040, 'an episode counts for more than a year'],
  ['24.Hours.S01E01.DVDRip.XviD-GRP', 5030, 'a number in front of a series is its title'],
  ['Clip.1920x1080.Wallpaper', 8010, 'the size of a picture is no season and episode'],
  ['Galaxy.S10.Manual', 8010, 'a telephone is no season'],
  ['xXx.Agent.2002.1080p.BluRay.x264-GRP', 2040, 'XXX in front is the title of a film'],
  ['Super.Bowl.XXX.1996.720p.HDTV.x264-GRP', 5060, 'an event may be numbered XXX'],
  ['Artist-Title-x264-2014-GRP', 3020, 'music with a codec of pictures is a music video'],
  ['Film.1999.1080p.BluRay.FLAC.x264-GRP', 2040, 'FLAC may be the sound of a film'],
  ['Film.1999.DVDRip.XviD.MP3-GRP', 2030, 'MP3 may be the sound of a film'],
  ['Series.S01E02.1080p.BluRay.FLAC2.0.x264-GRP', 5040, 'FLAC may be the sound of an episode'],
  ['4K.Video.Downloader.v4.2.Multilingual-GRP', 4010, 'a program may have 4K in its name'],
  ['x264.Encoder.Gui.v2.1.Incl.Keygen-GRP', 4010, 'a program may have a codec in its name'],
  ['Lea.Blue-ray.Ripper.v4.4.0', 4010, 'a program may have a disc in its name'],
  ['NBA.2K24.NSW-GRP', 1090, 'a game may have a league in its name'],
  ['FIFA.World.Cup.Story.PS3-GRP', 1080, 'a game may have an event in its name'],
  ['The.Italian.Garden.2003.1080p.BluRay.x264-GRP', 2040, 'a title may hold a language'],
  ['The.French.Letter.2021.720p.WEB.h264-GRP', 2080, 'a title may hold a language'],
  ['Show.S01E02.The.French.Lesson.720p.HDTV.x264-GRP', 5040, 'the title of an episode may hold a language'],
  ['My.Pal.Gus.1952.720p.BluRay.x264-GRP', 2040, 'PAL may be a word of a title'],
  ['Film.2011.HDTVRip.XviD-GRP', 2030, 'a film that was taken from television is a film'],
  ['Linux.Bible.10th.Edition.ePub', 7040, 'a book about Linux is no image of it'],
  ['Film.About.Linux.2001.1080p.WEB.h264-GRP', 2080, 'a film about Linux is no image of it'],
  ['[720p/1080p] Sample Reel 720p', 2040, 'a bracket in front makes no anime'],
  ['[12345] Some Thing - 07 of 10', 8010, 'a number of a request is no fansub'],
  ['Series.S02D01.PAL.DVD9-GRP', 5030, 'a disc of a season is television'],
  ['Podcast.About.Gardens.MP3.S01E02', 5050, 'an episode counts for more than a sound'],
  ['Cold.Case.Files-Handbook.1999.720p.HDTV.x264-GRP', 5040, 'a film about a handbook is no book'],
  ['Steep.3D.2010.DVDRip.XviD-GRP', 2030, '3D in a title without its picture format is flat'],
  ['Band-Song-(Official_Video)-WEB-2019-GRP', 3010, 'the shape of music counts for more than a word'],
  ['Planet.Web.2004.DVDRip.XviD-GRP', 2030, 'the web may be in a title'],
  ['Comic.Relief.2015.720p.HDTV.x264-GRP', 5040, 'television may have a comic in its name'],
  ['The.Magazine.2008.1080p.BluRay.x264-GRP', 2040, 'a film may have a magazine in its name'],
  ['Android.Dreams.2014.1080p.WEB-DL.H264-GRP', 2080, 'a film may have a system in its name'],
  ['The.Wii.Story.2011.720p.WEB.h264-GRP', 2080, 'a film may have a console in its name'],
];

export const BY_GROUP: readonly (readonly [name: string, groups: string, leaf: number])[] = [
  ['Some.Title.2019', 'alt.binaries.erotica', 6070],
  ['Some.Title.1080p.MP4', 'alt.binaries.misc alt.binaries.multimedia.erotica.amateur', 6040],
  ['Summer set 12', 'alt.binaries.pictures.erotica', 6060],
  ['Show.S01E02.720p.HDTV.x264-GRP', 'alt.binaries.misc alt.binaries.erotica', 5040],
  ['Quiet Band - Paper Moons', 'alt.binaries.sounds.mp3', 3010],
  ['Quiet Band - Paper Moons', 'alt.binaries.sounds.lossless', 3040],
  ['Some Author - The Lighthouse', 'alt.binaries.sounds.audiobooks', 3030],
  ['Some Author - The Lighthouse', 'alt.binaries.mp3.audiobooks', 3030],
  ['Quiet Band - Paper Moons', 'alt.binaries.music', 3050],
  ['Some Author - The Lighthouse', 'alt.binaries.e-book', 7020],
  ['Some Author - The Lighthouse', 'alt.binaries.ebook.technical', 7040],
  ['Night Heron 12', 'alt.binaries.comics', 7030],
  ['Garden Weekly', 'alt.binaries.magazines', 7010],
  ['Meadow.Tactics-GRP', 'alt.binaries.games', 4050],
  ['Meadow.Tactics-GRP', 'alt.binaries.games.wii', 1030],
  ['Meadow.Tactics-GRP', 'alt.binaries.games.xbox360', 1050],
  ['Meadow.Tactics-GRP', 'alt.binaries.nintendo', 1090],
  ['Drawing Suite', 'alt.binaries.mac', 4030],
  ['Drawing Suite', 'alt.binaries.warez', 4010],
  ['basalt-current-2026-01-15', 'alt.binaries.misc alt.binaries.linux.iso', 4020],
  ['basalt-current-2026-01-15', 'alt.binaries.cd.image.linux', 4020],
  ['Storm Chronicles 07', 'alt.binaries.anime', 5070],
  ['Storm.Chronicles.07.1080p', 'alt.binaries.multimedia.anime', 5070],
  ['Some.Match.720p', 'alt.binaries.multimedia.sports', 5060],
  ['Deep Rivers', 'alt.binaries.documentaries', 5080],
  ['Harbor Lights the finale', 'alt.binaries.tv', 5050],
  ['Harbor.Lights.Finale.720p.x264', 'alt.binaries.hdtv.x264', 5040],
  ['Some.Film.2012.720p.BluRay.x264', 'alt.binaries.tv', 2040],
  ['Some Film', 'alt.binaries.movies', 2020],
  ['Some Film', 'alt.binaries.movies.divx', 2020],
  ['Some thing', 'alt.binaries.boneless', 8010],
];

export const BY_PRE: readonly (readonly [name: string, pre: string, leaf: number])[] = [
  ['Meadow.Tactics-GRP', 'GAMES', 4050],
  ['Meadow.Tactics-GRP', 'GAMES-PS4', 1180],
  ['Meadow.Tactics-GRP', 'NSW', 1090],
  ['Drawing.Suite-GRP', '0DAY', 4010],
  ['Drawing.Suite-GRP', 'APPS', 4010],
  ['Drawing.Suite-GRP', 'MAC', 4030],
  ['Quiet_Band-Moons-GRP', 'MP3', 3010],
  ['Quiet_Band-Moons-GRP', 'FLAC', 3040],
  ['Quiet_Band-Moons-GRP', 'MVID', 3020],
  ['The.Lighthouse-GRP', 'AUDIOBOOK', 3030],
  ['The.Lighthouse-GRP', 'EBOOK', 7020],
  ['Night.Heron-GRP', 'COMICS', 7030],
  ['The.Lighthouse-GRP', 'TV-X264', 5030],
  ['The.Lighthouse.720p-GRP', 'TV-HD', 5040],
  ['The.Lighthouse-GRP', 'ANIME', 5070],
  ['The.Lighthouse-GRP', 'X264', 2030],
  ['The.Lighthouse.1080p-GRP', 'X264-HD', 2040],
  ['The.Lighthouse-GRP', 'DVDR', 2070],
  ['The.Lighthouse-GRP', 'XXX', 6070],
  ['The.Lighthouse-GRP', 'PRE', 8010],
];
